// Package dts is the Telegraf input that reads RNICs from the DOCA Telemetry Service (DTS) of BlueField DPUs, and of hosts on which no other
// program of Wallwatch runs.
package dts

import (
	_ "embed"
	"time"

	"github.com/influxdata/telegraf"
	"github.com/influxdata/telegraf/config"
	"github.com/influxdata/telegraf/plugins/common/tls"
	"github.com/influxdata/telegraf/plugins/inputs"

	"github.com/wallwatch/wallwatch/collectors/internal/scraped"
)

//go:generate go run ../../../internal/fieldlists -package dts -out fields_generated.go ../../../../pipelines/wallwatch/domain/telemetry/metrics.yaml

//go:embed sample.conf
var sampleConfig string

// PluginName is the name of the input in Telegraf's configuration.
const PluginName = "dts"

// Plugin is the configuration and the state between two gatherings.
type Plugin struct {
	URLs       []string          `toml:"urls"`
	Timeout    config.Duration   `toml:"timeout"`
	StaleAfter config.Duration   `toml:"stale_after"`
	PCI        map[string]string `toml:"pci"`
	Netdevs    map[string]string `toml:"netdevs"`
	Include    []string          `toml:"include"`
	Exclude    []string          `toml:"exclude"`
	tls.ClientConfig
	Log telegraf.Logger `toml:"-"`

	hosts *scraped.Hosts
	// clock is this machine's clock if it is nil; tests replace it.
	clock func() time.Time
}

// SampleConfig implements telegraf.PluginDescriber.
func (*Plugin) SampleConfig() string { return sampleConfig }

// Init checks the configuration and connects to nothing.
func (p *Plugin) Init() error {
	names := scraped.Names{PCI: p.PCI, Include: p.Include, Exclude: p.Exclude}
	hosts, err := scraped.New(product{names, p.Netdevs}, scraped.Options{
		URLs: p.URLs, Timeout: time.Duration(p.Timeout), StaleAfter: time.Duration(p.StaleAfter), TLS: p.ClientConfig, Log: p.Log, Clock: p.clock,
	})
	if err != nil {
		return err
	}
	p.hosts = hosts
	return names.Check()
}

// Gather reads every host.
func (p *Plugin) Gather(acc telegraf.Accumulator) error { return p.hosts.Gather(acc) }

func init() {
	inputs.Add(PluginName, func() telegraf.Input { return &Plugin{} })
}
