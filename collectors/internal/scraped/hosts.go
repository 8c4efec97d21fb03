// Package scraped asks programs of other hosts for what they measure, in Prometheus's text format, and makes samples of RNICs of their answers.
// What differs between programs is a Product.
package scraped

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/influxdata/telegraf"
	"github.com/influxdata/telegraf/plugins/common/tls"
	"github.com/influxdata/telegraf/selfstat"
)

const (
	// Measurement is the name of the metric; its fields and tags are declared in the telemetry registry.
	Measurement = "rnic"

	// ParsedAtOnce is how many answers are parsed at the same time, which takes memory.
	ParsedAtOnce = 8

	// askedAtOnce is how many hosts are waited for at the same time.
	askedAtOnce = 256

	defaultTimeout = 5 * time.Second

	defaultStaleAfter = time.Minute
)

// Product is a program that hosts run, and how its answers are understood.
type Product interface {
	// Name is what messages call it.
	Name() string
	// Wants says whether a family is read; nothing else of an answer is parsed or kept.
	Wants(family string) bool
	// DeviceOf says which device a series is of: an InfiniBand device, a network device or a PCI address.
	DeviceOf(family string, s Series) string
	// HostOf returns the name of its host that an answer states, "" if it states none.
	HostOf(a Answer) (string, error)
	// RNICs lists the physical functions of an answer with their values.
	RNICs(a Answer, warn Warn) ([]RNIC, error)
}

// Warn says something of a device once, however often it is seen.
type Warn func(about, format string, values ...any)

// RNIC is what an answer says of one RNIC; what it does not say is absent.
type RNIC struct {
	// ID is the PCI address, or the InfiniBand device's name where nothing states the address.
	ID   string
	Tags map[string]string
	Values
}

// Options are how hosts are asked.
type Options struct {
	URLs    []string
	Timeout time.Duration
	// StaleAfter is how long the times next to values may stand still, and how far one may be in the future; a minute if it is 0.
	StaleAfter time.Duration
	TLS        tls.ClientConfig
	Log        telegraf.Logger
	// Clock is this machine's clock if it is nil; tests replace it.
	Clock func() time.Time
}

// Hosts are the hosts of one section of the configuration.
type Hosts struct {
	product    Product
	timeout    time.Duration
	staleAfter time.Duration
	log        telegraf.Logger
	clock      func() time.Time
	client     *http.Client
	targets    []*target
	// parsing has a place for each answer that may be parsed.
	parsing chan struct{}
	names   owners
	// old and future count the values that are left out because of their times.
	old, future selfstat.Stat
}

// target is one host's program, and what is remembered of its RNICs.
type target struct {
	address *url.URL
	// host is its name, once it has answered.
	host    string
	devices map[string]*device
	warned  map[string]bool
	reading reading
}

// device is what is remembered of one RNIC between two gatherings.
type device struct{ tx, rx throughput }

// New checks the configuration and connects to nothing.
func New(product Product, options Options) (*Hosts, error) {
	h := &Hosts{product: product, timeout: options.Timeout, staleAfter: options.StaleAfter, log: options.Log, clock: options.Clock}
	if len(options.URLs) == 0 {
		return nil, fmt.Errorf("urls is empty: name the %s of each host, such as http://host01:9100/metrics", product.Name())
	}
	for i, raw := range options.URLs {
		address, err := url.Parse(raw)
		if err != nil || address.Host == "" || (address.Scheme != "http" && address.Scheme != "https") {
			// Its text may have a password that is not where one is looked for.
			return nil, fmt.Errorf("entry %d of urls is not usable: it must be http:// or https:// with a host%s", i+1, escapes(raw))
		}
		if strings.Contains(address.Path+address.RawQuery+address.Fragment, "@") {
			// "https://ann:12/3@host01" is port 12 of a host "ann", which would be asked for the rest of the password.
			return nil, fmt.Errorf("entry %d of urls is not usable: its host ends before the @%s", i+1, escapes(raw))
		}
		h.targets = append(h.targets, &target{address: address, devices: map[string]*device{}, warned: map[string]bool{}})
	}
	if h.timeout <= 0 {
		h.timeout = defaultTimeout
	}
	if h.staleAfter <= 0 {
		h.staleAfter = defaultStaleAfter
	}
	settings, err := options.TLS.TLSConfig()
	if err != nil {
		return nil, err
	}
	h.client = &http.Client{Timeout: h.timeout, Transport: &http.Transport{
		Proxy: nil, TLSClientConfig: settings, MaxIdleConnsPerHost: 1, ResponseHeaderTimeout: h.timeout, MaxResponseHeaderBytes: maxHeader,
	}, CheckRedirect: func(*http.Request, []*http.Request) error {
		// A host must not choose what else this machine asks, with its certificate.
		return http.ErrUseLastResponse
	}}
	h.parsing = make(chan struct{}, ParsedAtOnce)
	h.names = owners{of: map[string]*target{}}
	tags := map[string]string{"product": product.Name()}
	h.old, h.future = selfstat.Register("scraped", "values_old", tags), selfstat.Register("scraped", "values_from_the_future", tags)
	if h.clock == nil {
		h.clock = time.Now
	}
	return h, nil
}

// escapes says how to write a password that ends an address too early. No program that is asked has an @ in its path.
func escapes(raw string) string {
	if !strings.Contains(raw, "@") {
		return ""
	}
	return "; in a user or password write %2F for /, %3F for ?, %23 for #, %40 for @ and %25 for %"
}

// Gather reads every host. One that does not answer costs its own samples only: the server sees that it is silent.
func (h *Hosts) Gather(acc telegraf.Accumulator) error {
	acc.SetPrecision(time.Nanosecond) // Telegraf would round times to the interval otherwise
	failures := make([]error, len(h.targets))
	free := make(chan struct{}, askedAtOnce)
	var all sync.WaitGroup
	for i, t := range h.targets {
		all.Add(1)
		free <- struct{}{}
		go func() {
			defer func() { <-free; all.Done() }()
			if err := h.gather(acc, t); err != nil {
				failures[i] = fmt.Errorf("the %s at %q: %w", h.product.Name(), t.address.Redacted(), err)
			}
		}()
	}
	all.Wait()
	return errors.Join(failures...)
}

func (h *Hosts) gather(acc telegraf.Accumulator, t *target) error {
	err := h.sample(acc, t)
	if err != nil {
		// A rate over the gap would not be the present one.
		clear(t.devices)
	}
	return err
}

// sample asks a host and adds what it answers.
func (h *Hosts) sample(acc telegraf.Accumulator, t *target) error {
	ctx, cancel := context.WithTimeout(context.Background(), h.timeout)
	defer cancel()
	came, err := h.ask(ctx, t.address)
	if err != nil {
		h.names.release(t)
		return err
	}
	defer came.close()
	at := h.clock()
	h.parsing <- struct{}{}
	defer func() { <-h.parsing }()
	read, written, err := parse(h.product, came, at, h.staleAfter)
	if err != nil {
		h.names.release(t)
		return err
	}
	former := t.host
	name, err := h.product.HostOf(read)
	if err != nil {
		h.names.release(t)
		return err
	}
	if err := h.names.claim(t, name); err != nil {
		return err
	}
	if t.host != former {
		clear(t.devices) // another host may have the address now
		t.reading = reading{}
	}
	last := t.reading
	if fresh, err := t.reading.follow(written.newest, at, h.staleAfter); !fresh {
		return err
	}
	if !t.reading.follows(last) {
		for _, known := range t.devices { // a rate over a step of its clock would not be right
			known.tx.forget()
			known.rx.forget()
		}
	}
	h.old.Incr(int64(written.old))
	h.future.Incr(int64(written.future))
	if written.old > 0 {
		h.warnOnce(t, "old", "values that it read more than %s before its newest ones are left out, %d this time", h.staleAfter, written.old)
	}
	if written.future > 0 {
		h.warnOnce(t, "future", "values that it says it reads more than %s from now are left out, %d this time", h.staleAfter, written.future)
	}
	return h.add(acc, t, read, at)
}

func (h *Hosts) add(acc telegraf.Accumulator, t *target, read Answer, at time.Time) error {
	present, err := h.product.RNICs(read, func(about, format string, values ...any) { h.warnOnce(t, about, format, values...) })
	if err != nil {
		return err
	}
	for _, r := range present {
		known := t.devices[r.ID]
		if known == nil {
			known = &device{}
			t.devices[r.ID] = known
		}
		known.tx.add(r.Values, "tx_gbps", "port_xmit_data", "tx_bytes", at)
		known.rx.add(r.Values, "rx_gbps", "port_rcv_data", "rx_bytes", at)
		if len(r.Fields) > 0 {
			r.Tags["host"] = t.host
			acc.AddFields(Measurement, r.Fields, r.Tags, at)
		}
	}
	for id := range t.devices {
		if !slices.ContainsFunc(present, func(r RNIC) bool { return r.ID == id }) {
			delete(t.devices, id)
		}
	}
	return nil
}

// warnOnce says something of a device of a host once. A host that invents devices is not believed for ever.
func (h *Hosts) warnOnce(t *target, about, format string, values ...any) {
	if len(t.warned) < MaxRNICs && !t.warned[about] {
		t.warned[about] = true
		h.log.Warnf("The %s at %q: %s", h.product.Name(), t.address.Redacted(), fmt.Sprintf(format, values...))
	}
}
