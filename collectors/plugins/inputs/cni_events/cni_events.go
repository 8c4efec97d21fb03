// Package cni_events is the Telegraf input that reports what the CNI chain of a host did, from the files of wallwatch-cni.
package cni_events

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/influxdata/telegraf"
	"github.com/influxdata/telegraf/plugins/inputs"

	"github.com/wallwatch/wallwatch/collectors/internal/cnievent"
	"github.com/wallwatch/wallwatch/collectors/internal/event"
	"github.com/wallwatch/wallwatch/collectors/internal/sysfs"
)

//go:embed sample.conf
var sampleConfig string

// The kinds of events.
const (
	Added   = "cni_add"
	Deleted = "cni_del"
	Checked = "cni_check"
	Lost    = "cni_lost"
)

var kinds = map[string]string{"ADD": Added, "DEL": Deleted, "CHECK": Checked}

// Plugin is the configuration and the state between two gatherings.
type Plugin struct {
	EventDir  string          `toml:"event_dir"`
	SysfsRoot string          `toml:"sysfs_root"`
	Log       telegraf.Logger `toml:"-"`

	root   sysfs.Root
	events event.Emitter
	gone   deletions
	// done are the files that were read in the last gathering: what they said is on its way to the outputs.
	done []string
	// full is set while the plugin has no room for more.
	full bool
	// clock is the host's clock; tests replace it.
	clock func() time.Time
}

// SampleConfig implements telegraf.PluginDescriber.
func (*Plugin) SampleConfig() string { return sampleConfig }

// Init checks the configuration.
func (p *Plugin) Init() error {
	if p.EventDir == "" {
		return errors.New("event_dir is empty: it is the folder that wallwatch-cni writes to")
	}
	p.root = sysfs.Root{Path: p.SysfsRoot}
	if p.clock == nil {
		p.clock = time.Now
	}
	return nil
}

// Start implements telegraf.ServiceInput. Nothing is opened before the first gathering.
func (*Plugin) Start(telegraf.Accumulator) error { return nil }

// Stop implements telegraf.ServiceInput.
func (p *Plugin) Stop() {
	if err := p.remove(); err != nil {
		p.Log.Error(err)
	}
}

// Gather reports the calls that wait. A file that cannot be read costs that one event.
func (p *Plugin) Gather(acc telegraf.Accumulator) error {
	// Telegraf would round times to the interval otherwise.
	acc.SetPrecision(time.Nanosecond)
	// The plugin of a container runtime runs as root, and its reports are for this input only.
	if err := os.MkdirAll(p.EventDir, 0o700); err != nil {
		return fmt.Errorf("the folder for events of the CNI chain: %w", err)
	}
	errs := []error{p.remove()}
	errs = append(errs, p.rescue(acc))
	names, err := cnievent.Pending(p.EventDir)
	errs = append(errs, err)
	p.checkRoom(acc, len(names))
	for _, name := range names {
		e, err := cnievent.Read(p.EventDir, name)
		if err != nil {
			errs = append(errs, err)
		} else {
			p.report(acc, e)
		}
		p.done = append(p.done, name)
	}
	return errors.Join(errs...)
}

// remove deletes what the last gathering read: a crash in between repeats events, with the same times, rather than losing them.
func (p *Plugin) remove() error {
	var errs []error
	for _, name := range p.done {
		errs = append(errs, cnievent.Remove(p.EventDir, name))
	}
	p.done = nil
	return errors.Join(errs...)
}

// rescue takes in what the plugin could not finish in its time, and reports what is lost of it.
func (p *Plugin) rescue(acc telegraf.Accumulator) error {
	_, lost, err := cnievent.Rescue(p.EventDir, p.clock())
	if lost > 0 {
		p.events.Emit(acc, p.clock(), Lost, "", fmt.Sprintf("The reports of %d calls of the CNI chain were cut off, because the disk was too slow or full.", lost))
	}
	return err
}

// checkRoom reports once that the plugin stopped writing while the collector was down.
func (p *Plugin) checkRoom(acc telegraf.Accumulator, waiting int) {
	full := waiting >= cnievent.MaxPending
	if full && !p.full {
		p.events.Emit(acc, p.clock(), Lost, "", fmt.Sprintf("%d calls of the CNI chain waited to be read; later ones were not recorded.", waiting))
	}
	p.full = full
}

func (p *Plugin) report(acc telegraf.Accumulator, e cnievent.Event) {
	fields := map[string]any{"result": plain(e.Result), "container": plain(e.Container), "duration_ms": max(0, float64(e.Duration)/float64(time.Millisecond))}
	put := func(name, value string) {
		if value = plain(value); value != "" {
			fields[name] = value
		}
	}
	put("pod", e.Pod)
	put("interface", e.Interface)
	put("address", strings.Join(e.Addresses, ","))
	if e.Command == "ADD" {
		put("slo", e.SLO)
	}
	if e.VXLANNetwork > 0 {
		fields["vxlan_network"] = e.VXLANNetwork
	}
	if p.gone.note(e) {
		fields["repeated"] = true
	}
	pci := p.rnic(e)
	if e.Device != pci {
		put("device", e.Device)
	}
	p.events.EmitFields(acc, e.At, kinds[e.Command], pci, describe(e), fields)
}

// rnic is the physical function of the event's VF, "" where there is none.
func (p *Plugin) rnic(e cnievent.Event) string {
	if sysfs.IsPCIAddress(e.RNIC) {
		return e.RNIC
	}
	if !sysfs.IsPCIAddress(e.Device) {
		return ""
	}
	if physical, err := p.root.PhysFn(e.Device); err == nil {
		return physical
	}
	return e.Device
}

func describe(e cnievent.Event) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s of container %s", e.Command, plain(e.Container))
	if e.Pod != "" {
		fmt.Fprintf(&text, " (%s)", plain(e.Pod))
	}
	if e.Device != "" {
		fmt.Fprintf(&text, " with %s", plain(e.Device))
	}
	fmt.Fprintf(&text, ": %s", plain(e.Result))
	if e.Reason != "" {
		fmt.Fprintf(&text, ", %s", plain(e.Reason))
	}
	return text.String() + "."
}

// longest bounds what one text can make of an event.
const longest = 300

// plain makes a text from outside printable and short.
func plain(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "�"))
	if runes := []rune(text); len(runes) > longest {
		return string(runes[:longest]) + "…"
	}
	return text
}

func init() {
	inputs.Add("cni_events", func() telegraf.Input {
		return &Plugin{EventDir: "/run/wallwatch/cni-events", SysfsRoot: sysfs.Default}
	})
}
