// Package rnic is the Telegraf input that reads what the kernel and the driver show about each RNIC of a host: sysfs, the
// driver's counters of ethtool, and devlink.
package rnic

import (
	_ "embed"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/influxdata/telegraf"
	"github.com/influxdata/telegraf/config"
	"github.com/influxdata/telegraf/plugins/inputs"

	"github.com/wallwatch/wallwatch/collectors/internal/cputime"
	"github.com/wallwatch/wallwatch/collectors/internal/event"
	"github.com/wallwatch/wallwatch/collectors/internal/rnicinput"
	"github.com/wallwatch/wallwatch/collectors/internal/sysfs"
)

//go:embed sample.conf
var sampleConfig string

// Measurement is the name of the metric; its fields and tags are declared in the telemetry registry.
const Measurement = "rnic"

// Plugin is the configuration and the state between two gatherings.
type Plugin struct {
	SysfsRoot      string          `toml:"sysfs_root"`
	Netlink        string          `toml:"netlink"`
	Exclude        []string        `toml:"exclude"`
	DriverInterval config.Duration `toml:"driver_interval"`
	VFInterval     config.Duration `toml:"vf_interval"`
	Log            telegraf.Logger `toml:"-"`

	root    sysfs.Root
	reader  sysfs.Reader
	devices map[string]*device
	drivers drivers
	events  event.Emitter
	// clock is the host's clock, with Go's monotonic reading, and cpu measures work; tests replace both.
	clock func() time.Time
	cpu   func(work func()) time.Duration
	// started is set after the first listing: RNICs that were there before the collector did not appear.
	started bool
}

// SampleConfig implements telegraf.PluginDescriber.
func (*Plugin) SampleConfig() string { return sampleConfig }

// Init checks the configuration. It reads nothing: a host without RNICs is a valid host.
func (p *Plugin) Init() error {
	if err := rnicinput.CheckExclude(p.Exclude); err != nil {
		return err
	}
	if p.DriverInterval < 0 {
		return fmt.Errorf("driver_interval cannot be negative: %s", time.Duration(p.DriverInterval))
	}
	if p.VFInterval < 0 {
		return fmt.Errorf("vf_interval cannot be negative: %s", time.Duration(p.VFInterval))
	}
	if p.SysfsRoot == "" {
		p.SysfsRoot = sysfs.Default
	}
	p.root = sysfs.Root{Path: p.SysfsRoot}
	p.devices = make(map[string]*device)
	p.drivers = drivers{interval: time.Duration(p.DriverInterval), source: p.driverSource()}
	if p.clock == nil {
		p.clock = time.Now
	}
	if p.cpu == nil {
		p.cpu = cputime.Of
	}
	return nil
}

// driverSource is nil where the drivers are not asked.
func (p *Plugin) driverSource() rnicinput.Source {
	if p.DriverInterval == 0 {
		return nil
	}
	return rnicinput.SourceOf(p.Netlink, p.SysfsRoot)
}

// Gather reads every RNIC once. What cannot be read costs that value only; an error is returned when the RNICs cannot be listed.
func (p *Plugin) Gather(acc telegraf.Accumulator) error {
	// Telegraf would round times to the interval otherwise.
	acc.SetPrecision(time.Nanosecond)
	var samples []sample
	var err error
	cost := p.cpu(func() { samples, err = p.read(acc) })
	p.emit(acc, samples, cost)
	return err
}

// sample is what one gathering read of one RNIC.
type sample struct {
	device    *device
	at        time.Time
	fields    map[string]any
	functions []vfSample
}

func (p *Plugin) read(acc telegraf.Accumulator) ([]sample, error) {
	rnics, err := p.root.RNICs()
	if err != nil {
		err = fmt.Errorf("listing RNICs below %q: %w", p.SysfsRoot, err)
	}
	said := p.drivers.ask(p.clock(), p.Log)
	representors := p.representorsOf(rnics)
	present := make(map[string]bool, len(rnics))
	samples := make([]sample, 0, len(rnics))
	for _, rnic := range rnics {
		if slices.Contains(p.Exclude, rnic.ID) {
			continue
		}
		present[rnic.ID] = true
		known := p.devices[rnic.ID]
		if known == nil {
			known = newDevice()
			p.devices[rnic.ID] = known
			if p.started {
				p.events.Emit(acc, p.clock(), event.DeviceAppeared, rnic.ID, fmt.Sprintf("RNIC %s appeared.", rnicinput.Describe(rnic)))
			}
		}
		known.rnic = rnic
		s := p.sample(acc, known, said, representors)
		s.fields["collect_failures"] = failures(err != nil, &p.drivers.health, &p.drivers.description, &p.drivers.queuePairs, &known.driver.ethtool,
			&known.functions.settings, &known.transport.dcb)
		samples = append(samples, s)
	}
	if err == nil {
		// After a failed listing it is unknown which RNICs are gone.
		p.forgetVanished(acc, present)
		p.started = true
	}
	return samples, err
}

// representorsOf reads the representors when they are first requested, once per gathering.
func (p *Plugin) representorsOf(rnics []sysfs.RNIC) func() map[string]sysfs.Representor {
	var found map[string]sysfs.Representor
	return func() map[string]sysfs.Representor {
		if found == nil {
			var err error
			if found, err = p.root.Representors(rnics); err != nil {
				p.Log.Debugf("Representors cannot be listed: %v", err)
				found = map[string]sysfs.Representor{}
			}
		}
		return found
	}
}

func (p *Plugin) forgetVanished(acc telegraf.Accumulator, present map[string]bool) {
	for id, gone := range p.devices {
		if present[id] {
			continue
		}
		delete(p.devices, id)
		detail := fmt.Sprintf("RNIC %s is no longer shown by the kernel.", rnicinput.Describe(gone.rnic))
		p.Log.Warn(detail)
		p.events.Emit(acc, p.clock(), event.DeviceVanished, id, detail)
	}
}

// sample reads one RNIC. Events that its values reveal are emitted at once.
func (p *Plugin) sample(acc telegraf.Accumulator, d *device, said answers, representors func() map[string]sysfs.Representor) sample {
	at := p.clock()
	fields := make(map[string]any, 120)
	d.attributes = d.rnic.Attributes()
	lost := d.files.Read(&p.reader, d.rnic, at, fields, p.Log)
	addIntent(fields, d.attributes.LinkLayer)
	more, ofPorts := d.ports.read(&p.reader, d.rnic, at, fields, d.port.change(fields), p.Log)
	lost.Plus(more).Add(fields)
	d.addRates(fields, at)
	d.transport.addECN(&p.reader, d.rnic, at, fields)
	wanted := d.functions.due(at, time.Duration(p.VFInterval))
	ofVFs := d.vfs.read(p.root, d.rnic, at, representors, wanted, fields)
	happened := slices.Concat(
		ofPorts,
		d.link.change(fields),
		ofVFs,
		d.addDriver(p.drivers.source, said, at, fields, p.Log),
	)
	for _, o := range oneOfAKind(happened) {
		p.Log.Infof("RNIC %s: %s", d.rnic.ID, o.detail)
		var more map[string]any
		if o.device != "" {
			more = map[string]any{"device": o.device}
		}
		p.events.EmitFields(acc, at, o.kind, d.rnic.ID, o.detail, more)
	}
	s := sample{device: d, at: at, fields: fields}
	if d.vfs.named && p.VFInterval > 0 && (wanted || changed(ofVFs)) {
		s.functions = d.functions.read(&p.reader, p.root, d.rnic, d.vfs.current, p.drivers.source, at, p.Log)
	}
	fields["collect_ms"] = milliseconds(p.clock().Sub(at))
	return s
}

func (p *Plugin) emit(acc telegraf.Accumulator, samples []sample, cost time.Duration) {
	for _, s := range samples {
		s.fields["collect_cpu_ms"] = milliseconds(cost)
		acc.AddFields(Measurement, s.fields, s.device.tags(), s.at)
		for _, vf := range s.functions {
			acc.AddFields(VFMeasurement, vf.fields, vf.tags, s.at)
		}
	}
}

func milliseconds(d time.Duration) float64 { return math.Round(d.Seconds()*1e6) / 1e3 }

func init() {
	inputs.Add("rnic", func() telegraf.Input {
		return &Plugin{
			Netlink:        rnicinput.Auto,
			DriverInterval: config.Duration(10 * time.Second),
			VFInterval:     config.Duration(2 * time.Minute),
		}
	})
}
