// Package kernel_events is the Telegraf input that reads the kernel log, pstore and the boot id, and reports what they say about RNICs.
package kernel_events

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/influxdata/telegraf"
	"github.com/influxdata/telegraf/config"
	"github.com/influxdata/telegraf/plugins/inputs"

	"github.com/wallwatch/wallwatch/collectors/internal/event"
	"github.com/wallwatch/wallwatch/collectors/internal/kmsg"
	"github.com/wallwatch/wallwatch/collectors/internal/sysfs"
)

//go:embed sample.conf
var sampleConfig string

// Plugin is the configuration and the state between two gatherings.
type Plugin struct {
	Kmsg          string          `toml:"kmsg"`
	Pstore        string          `toml:"pstore"`
	PstoreArchive string          `toml:"pstore_archive"`
	BootID        string          `toml:"boot_id"`
	SysfsRoot     string          `toml:"sysfs_root"`
	StateFile     string          `toml:"state_file"`
	Limit         int             `toml:"limit"`
	LimitPeriod   config.Duration `toml:"limit_period"`
	Log           telegraf.Logger `toml:"-"`

	clock    kmsg.Clock
	table    *table
	topology *topology
	limiter  *limiter
	traces   traces
	pids     pids
	events   event.Emitter

	log   *kmsg.Log
	state state
	// saved is what the state file holds.
	saved state
	// before is where the boot before ended for us; a dump of that boot repeats what came earlier.
	before state
	// gathered is set by the first gathering.
	gathered bool
	// skip is set until what was in the log before the start is left out.
	skip bool
	// lastError is the error that was reported last.
	complained string
}

// SampleConfig implements telegraf.PluginDescriber.
func (*Plugin) SampleConfig() string { return sampleConfig }

// Init checks the configuration. It opens nothing.
func (p *Plugin) Init() error {
	if p.Limit <= 0 {
		return fmt.Errorf("limit: %d is not positive", p.Limit)
	}
	if p.LimitPeriod <= 0 {
		return fmt.Errorf("limit_period: %s is not positive", time.Duration(p.LimitPeriod))
	}
	var err error
	if p.table, err = loadPatterns(); err != nil {
		return err
	}
	if p.clock.Now == nil {
		p.clock = kmsg.HostClock()
	}
	p.topology = newTopology(p.SysfsRoot)
	p.limiter = p.newLimiter()
	return nil
}

func (p *Plugin) newLimiter() *limiter { return newLimiter(p.Limit, time.Duration(p.LimitPeriod)) }

// Start implements telegraf.ServiceInput: it finds out where the last run ended.
func (p *Plugin) Start(telegraf.Accumulator) error {
	if p.StateFile == "" {
		p.log = kmsg.New(p.Kmsg, kmsg.Position{}, p.clock)
		p.skip = true
		return nil
	}
	var err error
	if p.state, err = readState(p.StateFile); err != nil {
		// Better to repeat events than to collect none; the store knows repeated ones.
		p.Log.Warnf("Starting with the oldest record: %v", err)
	}
	p.log = kmsg.New(p.Kmsg, p.state.Position, p.clock)
	return nil
}

// Stop implements telegraf.ServiceInput. What was gathered is on its way to the outputs.
func (p *Plugin) Stop() {
	if p.gathered {
		now := p.clock.Now().Round(0)
		p.state.StoppedAt = &now
		if err := p.save(); err != nil {
			p.Log.Error(err)
		}
	}
	p.log.Close()
}

// Gather reads what is new. What cannot be read costs that source only.
func (p *Plugin) Gather(acc telegraf.Accumulator) error {
	// Telegraf would round times to the interval otherwise.
	acc.SetPrecision(time.Nanosecond)
	out := &output{acc: acc, plugin: p, limiter: p.limiter, traces: &p.traces, origin: "kmsg"}
	p.topology.refresh(p.clock.Now())
	errs := []error{p.prepare()}
	booted, err := p.checkBoot()
	errs = append(errs, err)
	reading, err := p.log.Read(out.record)
	errs = append(errs, err)
	now := p.clock.Now()
	out.settle(now)
	if booted != nil {
		p.reportBoot(acc, booted, now)
	}
	p.reportReading(acc, reading, now)
	errs = append(errs, p.readDumps(acc))
	p.state.Position = p.log.Position()
	if open := p.traces.oldest(); open != nil {
		p.state.Position = open.before
	}
	if p.state.BootedAt.IsZero() {
		p.state.BootedAt = p.log.BootTime().Round(0)
	}
	p.state.StoppedAt = nil // It has served: what was the boot before is known.
	return p.onlyNews(errors.Join(errs...))
}

// prepare saves what the gathering before read: by now it has reached the outputs, so that a crash repeats events rather than losing them.
func (p *Plugin) prepare() error {
	if p.skip {
		err := p.log.SkipToEnd()
		p.skip = err != nil
		return err
	}
	return p.save()
}

func (p *Plugin) save() error {
	if p.StateFile == "" || !p.state.worthSaving(&p.saved) {
		return nil
	}
	if err := writeState(p.StateFile, p.state); err != nil {
		return fmt.Errorf("the position in the kernel log cannot be saved: %w", err)
	}
	p.saved = p.state
	p.saved.Dumps = slices.Clone(p.state.Dumps)
	return nil
}

// onlyNews returns an error when it is another one than the last: a log that may not be read is reported once, not every second.
func (p *Plugin) onlyNews(err error) error {
	text := ""
	if err != nil {
		text = err.Error()
	}
	if text == p.complained {
		return nil
	}
	p.complained = text
	if err == nil {
		p.Log.Info("The kernel log can be read again")
	}
	return err
}

func (p *Plugin) reportReading(acc telegraf.Accumulator, found kmsg.Reading, now time.Time) {
	if found.Lost > 0 || found.Overruns > 0 {
		p.events.EmitFields(acc, now, KernelLogLost, "",
			fmt.Sprintf("%d records of the kernel log were overwritten before they could be read.", found.Lost),
			map[string]any{"lost": int64(found.Lost), "origin": "kmsg"}) //nolint:gosec // a kernel does not write 2^63 records
	}
	if found.Malformed > 0 {
		p.Log.Warnf("%d lines of %q are not records of a kernel log", found.Malformed, p.Kmsg)
	}
	if found.Restarted {
		p.Log.Infof("%q was truncated or replaced; it is read from its beginning", p.Kmsg)
	}
}

// boot is a change of the boot id.
type boot struct{ id, before string }

// checkBoot compares the boot id with the last one; nil when it is the same, or the first that was ever seen.
func (p *Plugin) checkBoot() (*boot, error) {
	p.gathered = true
	if p.BootID == "" {
		return nil, nil
	}
	content, err := os.ReadFile(p.BootID)
	if err != nil {
		return nil, fmt.Errorf("the boot id: %w", err)
	}
	found := &boot{id: strings.TrimSpace(string(content)), before: p.state.BootID}
	if found.id == "" || found.id == found.before {
		return nil, nil
	}
	if found.before != "" {
		p.before = p.state
	}
	p.state.BootID, p.state.BootedAt = found.id, time.Time{}
	if found.before == "" {
		return nil, nil
	}
	p.log.Rebooted()
	return found, nil
}

// shutdownTime is the longest time from a shutdown, or from the collector's orderly end, to the boot that it explains.
const shutdownTime = 30 * time.Minute

func (p *Plugin) reportBoot(acc telegraf.Accumulator, found *boot, now time.Time) {
	at := p.log.BootTime()
	if at.IsZero() || at.After(now) {
		at = now
	}
	shutdown, detail := "none", "The host booted, and no shutdown was seen before."
	shortBefore := func(end *time.Time) bool { return end != nil && at.Sub(*end) < shutdownTime }
	switch stopped := p.state.StoppedAt; {
	case shortBefore(p.state.ShutdownAt), shortBefore(stopped):
		shutdown, detail = "orderly", "The host booted after an orderly shutdown."
	case stopped != nil:
		shutdown, detail = "unknown", "The host booted; the collector did not run when the previous boot ended."
	}
	p.state.ShutdownAt = nil
	p.events.EmitFields(acc, at, HostBooted, "", detail, map[string]any{"boot_id": found.id, "shutdown": shutdown})
}

// readDumps reads what pstore keeps of a kernel that died. Dumps of this boot only repeat its log.
func (p *Plugin) readDumps(acc telegraf.Accumulator) error {
	var errs []error
	for _, folder := range []string{p.Pstore, p.PstoreArchive} {
		if folder == "" {
			continue
		}
		dumps, err := kmsg.Dumps(folder)
		errs = append(errs, err)
		for _, dump := range dumps {
			thisBoot := folder == p.Pstore && !p.log.BootTime().IsZero() && dump.At.After(p.log.BootTime())
			if !thisBoot && !p.state.sawDump(dump.Digest) {
				p.readDump(acc, dump)
			}
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("pstore: %w", err)
	}
	return nil
}

func (p *Plugin) readDump(acc telegraf.Accumulator, dump kmsg.Dump) {
	p.Log.Infof("pstore has the log of a kernel that ended with %q at %s", dump.Reason, dump.At.UTC().Format(time.RFC3339))
	// Its lines are from another time, so they have limits and traces of their own.
	out := &output{acc: acc, plugin: p, limiter: p.newLimiter(), traces: &traces{}, origin: "pstore"}
	known := p.before.Position.Known && dump.At.After(p.before.BootedAt)
	for _, record := range dump.Records {
		if known && record.SinceBoot <= p.before.Position.SinceBoot {
			continue
		}
		out.record(record)
	}
	out.finish()
}

func init() {
	inputs.Add("kernel_events", func() telegraf.Input {
		return &Plugin{
			Kmsg: "/dev/kmsg", Pstore: "/sys/fs/pstore", PstoreArchive: "/var/lib/systemd/pstore", BootID: "/proc/sys/kernel/random/boot_id",
			SysfsRoot: sysfs.Default, StateFile: "/var/lib/wallwatch-telegraf/kernel_events.json", Limit: 20, LimitPeriod: config.Duration(time.Minute),
		}
	})
}
