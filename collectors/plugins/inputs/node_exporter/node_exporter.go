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
	"strings"
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

	// askedAtOnce is how many hosts are waited for at the same time, parsedAtOnce how many of their answers are parsed, which takes memory.
	askedAtOnce  = 256
	parsedAtOnce = 8
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
	// parsing has a place for each answer that may be parsed.
	parsing chan struct{}
	names   owners
	// clock is this machine's clock; tests replace it.
	clock func() time.Time
}

// target is one node_exporter, and what is remembered of its RNICs.
type target struct {
	address *url.URL
	// host is its name, once it has answered.
	host    string
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
	for i, raw := range p.URLs {
		address, err := url.Parse(raw)
		if err != nil || address.Host == "" || (address.Scheme != "http" && address.Scheme != "https") {
			// Its text may have a password that is not where one is looked for.
			return fmt.Errorf("entry %d of urls is not usable: it must be http:// or https:// with a host%s", i+1, escapes(raw))
		}
		if strings.Contains(address.Path+address.RawQuery+address.Fragment, "@") {
			// "https://ann:12/3@host01" is port 12 of a host "ann", which would be asked for the rest of the password.
			return fmt.Errorf("entry %d of urls is not usable: its host ends before the @%s", i+1, escapes(raw))
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
		Proxy: nil, TLSClientConfig: settings, MaxIdleConnsPerHost: 1, ResponseHeaderTimeout: time.Duration(p.Timeout), MaxResponseHeaderBytes: maxHeader,
	}, CheckRedirect: func(*http.Request, []*http.Request) error {
		// A host must not choose what else this machine asks, with its certificate.
		return http.ErrUseLastResponse
	}}
	p.parsing = make(chan struct{}, parsedAtOnce)
	p.names = owners{of: map[string]*target{}}
	if p.clock == nil {
		p.clock = time.Now
	}
	return nil
}

// escapes says how to write a password that ends an address too early. No path of a node_exporter has an @.
func escapes(raw string) string {
	if !strings.Contains(raw, "@") {
		return ""
	}
	return "; in a user or password write %2F for /, %3F for ?, %23 for #, %40 for @ and %25 for %"
}

// Gather reads every host. One that does not answer costs its own samples only: the server sees that it is silent.
func (p *Plugin) Gather(acc telegraf.Accumulator) error {
	acc.SetPrecision(time.Nanosecond) // Telegraf would round times to the interval otherwise
	failures := make([]error, len(p.targets))
	free := make(chan struct{}, askedAtOnce)
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
	err := p.sample(acc, t)
	if err != nil {
		// A rate over the gap would not be the present one.
		clear(t.devices)
	}
	return err
}

// sample asks a host and adds what it answers.
func (p *Plugin) sample(acc telegraf.Accumulator, t *target) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(p.Timeout))
	defer cancel()
	came, err := p.ask(ctx, t.address)
	if err != nil {
		p.names.release(t)
		return err
	}
	defer came.close()
	at := p.clock()
	p.parsing <- struct{}{}
	defer func() { <-p.parsing }()
	read, err := parse(came)
	if err != nil {
		p.names.release(t)
		return err
	}
	former := t.host
	if err := p.names.claim(t, read.label(hostInfo, "nodename")); err != nil {
		return err
	}
	if t.host != former {
		clear(t.devices) // another host may have the address now
	}
	present, err := p.rnics(read, t)
	if err != nil {
		return err
	}
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
			tags["host"] = t.host
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

// warnOnce says something of a device once, however often it is seen. A host that invents devices is not believed for ever.
func (p *Plugin) warnOnce(t *target, about, format string, values ...any) {
	if len(t.warned) < maxRNICs && !t.warned[about] {
		t.warned[about] = true
		p.Log.Warnf(format, values...)
	}
}

func init() {
	inputs.Add(PluginName, func() telegraf.Input { return &Plugin{} })
}
