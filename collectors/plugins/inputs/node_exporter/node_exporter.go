// Package node_exporter is the Telegraf input that reads RNICs from the node_exporters of hosts on which no other program of Wallwatch runs.
package node_exporter //nolint:revive // the name of the plugin's folder, as Telegraf's plugins have it

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/influxdata/telegraf"
	"github.com/influxdata/telegraf/config"
	"github.com/influxdata/telegraf/plugins/common/tls"
	"github.com/influxdata/telegraf/plugins/inputs"
)

//go:generate go run ../../../internal/fieldlists -package node_exporter -out fields_generated.go ../../../../pipelines/wallwatch/domain/telemetry/metrics.yaml

//go:embed sample.conf
var sampleConfig string

const (
	// Measurement is the name of the metric; its fields and tags are declared in the telemetry registry.
	Measurement = "rnic"
	// PluginName is the name of the input in Telegraf's configuration.
	PluginName = "node_exporter"

	// atOnce is how many hosts are asked at the same time: each answer is parsed in memory.
	atOnce = 8
)

// Plugin is the configuration and the state between two gatherings.
type Plugin struct {
	URLs    []string          `toml:"urls"`
	Timeout config.Duration   `toml:"timeout"`
	PCI     map[string]string `toml:"pci"`
	Exclude []string          `toml:"exclude"`
	tls.ClientConfig
	Log telegraf.Logger `toml:"-"`

	client  *http.Client
	targets []*target
	// clock is this machine's clock; tests replace it.
	clock func() time.Time
}

// target is one node_exporter, and what is remembered of its RNICs.
type target struct {
	address *url.URL
	devices map[string]*device
	warned  map[string]bool
}

// SampleConfig implements telegraf.PluginDescriber.
func (*Plugin) SampleConfig() string { return sampleConfig }

// Init checks the configuration and connects to nothing.
func (p *Plugin) Init() error {
	if len(p.URLs) == 0 {
		return errors.New("urls is empty: name the node_exporter of each host, such as http://host01:9100/metrics")
	}
	p.targets = nil
	for _, raw := range p.URLs {
		address, err := url.Parse(raw)
		if err != nil || address.Host == "" || (address.Scheme != "http" && address.Scheme != "https") {
			return fmt.Errorf("urls has %q: it must be http:// or https:// with a host", redacted(raw))
		}
		p.targets = append(p.targets, &target{address: address, devices: map[string]*device{}, warned: map[string]bool{}})
	}
	for ibdev, pci := range p.PCI {
		if !isPCI(pci) {
			return fmt.Errorf("pci gives %q the address %q: it must be as 0000:3b:00.0, in lower case", ibdev, pci)
		}
	}
	if p.Timeout <= 0 {
		p.Timeout = config.Duration(5 * time.Second)
	}
	settings, err := p.TLSConfig()
	if err != nil {
		return err
	}
	p.client = &http.Client{Timeout: time.Duration(p.Timeout), Transport: &http.Transport{
		Proxy: nil, TLSClientConfig: settings, MaxIdleConnsPerHost: 1, ResponseHeaderTimeout: time.Duration(p.Timeout),
	}}
	if p.clock == nil {
		p.clock = time.Now
	}
	return nil
}

// redacted is an address without a password.
func redacted(raw string) string {
	address, err := url.Parse(raw)
	if err != nil {
		return "an address that cannot be parsed"
	}
	return address.Redacted()
}

// Gather reads every host. One that does not answer costs its own samples only: the server sees that it is silent.
func (p *Plugin) Gather(acc telegraf.Accumulator) error {
	acc.SetPrecision(time.Nanosecond) // Telegraf would round times to the interval otherwise
	failures := make([]error, len(p.targets))
	free := make(chan struct{}, atOnce)
	var all sync.WaitGroup
	for i, t := range p.targets {
		all.Add(1)
		free <- struct{}{}
		go func() {
			defer func() { <-free; all.Done() }()
			if err := p.gather(acc, t); err != nil {
				failures[i] = fmt.Errorf("the node_exporter at %q: %w", t.address.Redacted(), err)
			}
		}()
	}
	all.Wait()
	return errors.Join(failures...)
}

func (p *Plugin) gather(acc telegraf.Accumulator, t *target) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(p.Timeout))
	defer cancel()
	read, err := p.ask(ctx, t.address)
	at := p.clock()
	if err != nil {
		// A rate over the gap would not be the present one.
		clear(t.devices)
		return err
	}
	host := read.label("node_uname_info", "nodename")
	if host == "" {
		host = t.address.Hostname()
	}
	present := p.rnics(read, t)
	for _, r := range present {
		known := t.devices[r.id]
		if known == nil {
			known = &device{}
			t.devices[r.id] = known
		}
		fields := r.fields(read)
		known.tx.Add(fields, "tx_gbps", "port_xmit_data", "tx_bytes", at)
		known.rx.Add(fields, "rx_gbps", "port_rcv_data", "rx_bytes", at)
		if len(fields) > 0 {
			tags := r.tags(read)
			tags["host"] = host
			acc.AddFields(Measurement, fields, tags, at)
		}
	}
	for id := range t.devices {
		if !slices.ContainsFunc(present, func(r rnic) bool { return r.id == id }) {
			delete(t.devices, id)
		}
	}
	return nil
}

// warnOnce says something of a device once, however often it is seen.
func (p *Plugin) warnOnce(t *target, about, format string, values ...any) {
	if !t.warned[about] {
		t.warned[about] = true
		p.Log.Warnf(format, values...)
	}
}

func init() {
	inputs.Add(PluginName, func() telegraf.Input { return &Plugin{} })
}
