// Package rnic is the Telegraf input that reads what the kernel's sysfs shows about each RNIC of a host.
package rnic

import (
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/influxdata/telegraf"
	"github.com/influxdata/telegraf/plugins/inputs"

	"github.com/wallwatch/wallwatch/collectors/internal/event"
	"github.com/wallwatch/wallwatch/collectors/internal/sysfs"
)

//go:embed sample.conf
var sampleConfig string

// Measurement is the name of the metric; its fields and tags are declared in the telemetry registry.
const Measurement = "rnic"

// Plugin is the configuration and the state between two gatherings.
type Plugin struct {
	SysfsRoot string          `toml:"sysfs_root"`
	Exclude   []string        `toml:"exclude"`
	Log       telegraf.Logger `toml:"-"`

	root    sysfs.Root
	reader  sysfs.Reader
	devices map[string]*device
	events  event.Emitter
	// clock is the host's clock, with Go's monotonic reading; tests replace it.
	clock func() time.Time
	// started is set after the first listing: RNICs that were there before the collector did not appear.
	started bool
}

// SampleConfig implements telegraf.PluginDescriber.
func (*Plugin) SampleConfig() string { return sampleConfig }

// Init checks the configuration. It reads nothing: a host without RNICs is a valid host.
func (p *Plugin) Init() error {
	for i, pci := range p.Exclude {
		p.Exclude[i] = strings.ToLower(pci)
		if !sysfs.IsPCIAddress(p.Exclude[i]) {
			return fmt.Errorf("exclude: %q is not a PCI address such as 0000:3b:00.1", pci)
		}
	}
	if p.SysfsRoot == "" {
		p.SysfsRoot = sysfs.Default
	}
	p.root = sysfs.Root{Path: p.SysfsRoot}
	p.devices = make(map[string]*device)
	if p.clock == nil {
		p.clock = time.Now
	}
	return nil
}

// Gather reads every RNIC once. What cannot be read costs that value only; an error is returned when the RNICs cannot be
// listed.
func (p *Plugin) Gather(acc telegraf.Accumulator) error {
	// Telegraf would round times to the interval otherwise.
	acc.SetPrecision(time.Nanosecond)
	rnics, err := p.root.RNICs()
	if err != nil {
		err = fmt.Errorf("listing RNICs below %q: %w", p.SysfsRoot, err)
	}
	present := make(map[string]bool, len(rnics))
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
				p.events.Emit(acc, p.clock(), event.DeviceAppeared, rnic.ID, fmt.Sprintf("RNIC %s appeared.", describe(rnic)))
			}
		}
		p.sample(acc, known, rnic)
	}
	if err == nil {
		// After a failed listing it is unknown which RNICs are gone.
		p.forgetVanished(acc, present)
		p.started = true
	}
	return errors.Join(err)
}

func (p *Plugin) forgetVanished(acc telegraf.Accumulator, present map[string]bool) {
	for id, gone := range p.devices {
		if present[id] {
			continue
		}
		delete(p.devices, id)
		detail := fmt.Sprintf("RNIC %s is no longer shown by the kernel.", describe(gone.rnic))
		p.Log.Warn(detail)
		p.events.Emit(acc, p.clock(), event.DeviceVanished, id, detail)
	}
}

func (p *Plugin) sample(acc telegraf.Accumulator, d *device, rnic sysfs.RNIC) {
	at := p.clock()
	fields := d.read(&p.reader, rnic, p.Log)
	d.addRates(fields, at)
	acc.AddFields(Measurement, fields, d.tags(rnic), at)
	if kind, detail := d.portChange(fields); kind != "" {
		p.Log.Infof("RNIC %s: %s", rnic.ID, detail)
		p.events.Emit(acc, at, kind, rnic.ID, detail)
	}
}

func describe(rnic sysfs.RNIC) string {
	names := []string{rnic.ID}
	for _, name := range []string{rnic.IBDev, rnic.Netdev} {
		if name != "" && name != rnic.ID {
			names = append(names, name)
		}
	}
	return strings.Join(names, " ")
}

func init() {
	inputs.Add("rnic", func() telegraf.Input { return &Plugin{} })
}
