// Package nf is the Telegraf input that reads what network functions on a SmartNIC use and process: hardware counters of their control groups,
// CPU, working set, traffic and throughput. Models of contention are made from these values.
package nf

import (
	_ "embed"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/influxdata/telegraf"
	"github.com/influxdata/telegraf/config"
	"github.com/influxdata/telegraf/plugins/inputs"

	"github.com/wallwatch/wallwatch/collectors/internal/cgroup"
	"github.com/wallwatch/wallwatch/collectors/internal/cputime"
	"github.com/wallwatch/wallwatch/collectors/internal/perfcount"
	"github.com/wallwatch/wallwatch/collectors/internal/sysfs"
)

//go:embed sample.conf
var sampleConfig string

const (
	// Measurement is the name of the metric; its fields and tags are declared in the telemetry registry.
	Measurement = "network_function"
	// PluginName is the name of the input in Telegraf's configuration.
	PluginName = "nf"

	off        = "off"
	kernel     = "kernel"
	referenced = "referenced"
	resctrl    = "resctrl"
)

// Plugin is the configuration and the state between two gatherings.
type Plugin struct {
	Functions          string          `toml:"functions"`
	CgroupRoot         string          `toml:"cgroup_root"`
	ProcRoot           string          `toml:"proc_root"`
	SysfsRoot          string          `toml:"sysfs_root"`
	Perf               string          `toml:"perf"`
	WorkingSet         string          `toml:"working_set"`
	WorkingSetInterval config.Duration `toml:"working_set_interval"`
	Log                telegraf.Logger `toml:"-"`

	counters  perfcount.Source // nil: hardware counters are off
	folder    declarations
	instances map[string]*instance // by control group and name of the function
	reader    sysfs.Reader
	// clock is the host's clock, and cpu measures work; tests replace both.
	clock func() time.Time
	cpu   func(work func()) time.Duration
}

// SampleConfig implements telegraf.PluginDescriber.
func (*Plugin) SampleConfig() string { return sampleConfig }

// SetClock makes the input take its times from a clock that is not the host's: that of a host which is simulated faster than real time.
// Call it before Init. What readings cost on the machine that simulates says nothing of the host, so their rhythm does not follow it.
func (p *Plugin) SetClock(now func() time.Time) {
	p.clock = now
	p.cpu = func(work func()) time.Duration {
		work()
		return 0
	}
}

// Init checks the configuration. It reads nothing: a host without functions is a valid host.
func (p *Plugin) Init() error {
	for _, option := range []struct {
		value    *string
		fallback string
	}{
		{&p.Functions, "/etc/wallwatch/functions.d"}, {&p.CgroupRoot, cgroup.Default}, {&p.ProcRoot, "/proc"}, {&p.SysfsRoot, sysfs.Default},
		{&p.Perf, kernel}, {&p.WorkingSet, off},
	} {
		if *option.value == "" {
			*option.value = option.fallback
		}
	}
	if !slices.Contains([]string{off, referenced, resctrl}, p.WorkingSet) {
		return fmt.Errorf("working_set is %q; expected off, referenced or resctrl", p.WorkingSet)
	}
	if p.WorkingSetInterval == 0 {
		p.WorkingSetInterval = config.Duration(10 * time.Minute)
	}
	if time.Duration(p.WorkingSetInterval) < 10*time.Second {
		return fmt.Errorf("working_set_interval is %s; it must be at least 10s, since each look costs the function", time.Duration(p.WorkingSetInterval))
	}
	switch p.Perf {
	case off:
	case kernel:
		p.counters = perfcount.Kernel{
			Devices:  filepath.Join(p.SysfsRoot, "bus/event_source/devices"),
			Paranoid: filepath.Join(p.ProcRoot, "sys/kernel/perf_event_paranoid"),
		}
	default:
		p.counters = perfcount.Files{Folder: p.Perf, CgroupRoot: p.CgroupRoot}
	}
	p.folder = declarations{path: p.Functions}
	p.instances = map[string]*instance{}
	if p.clock == nil {
		p.clock = time.Now
	}
	if p.cpu == nil {
		p.cpu = cputime.Of
	}
	return nil
}

// costShare is the share of a core that one function's readings may cost: after an expensive one, the next waits.
const costShare = 0.002

// Gather reads every function that is due. What cannot be read costs that value only; a file that describes no function is an error, and the
// others are read.
func (p *Plugin) Gather(acc telegraf.Accumulator) error {
	acc.SetPrecision(time.Nanosecond) // Telegraf would round times to the interval otherwise
	err := p.list()
	for _, key := range p.keys() {
		i, now := p.instances[key], p.clock()
		if now.Before(i.due) {
			continue
		}
		var fields map[string]any
		cost := p.cpu(func() { fields = i.read(p, now) })
		i.due = now.Add(time.Duration(float64(cost)/costShare) - cost)
		fields["collect_cpu_ms"] = cost.Seconds() * 1000
		acc.AddFields(Measurement, fields, i.tags(), now)
	}
	return err
}

func (p *Plugin) keys() []string {
	keys := make([]string, 0, len(p.instances))
	for key := range p.instances {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// list finds the control groups of all functions that are declared: they come and go with containers.
func (p *Plugin) list() error {
	declared, err := p.folder.read(p.Log)
	present := map[string]bool{}
	for _, d := range declared {
		groups, globErr := filepath.Glob(filepath.Join(p.CgroupRoot, d.Cgroup))
		if globErr != nil {
			err = errors.Join(err, fmt.Errorf("%s: cgroup %q: %w", d.file, d.Cgroup, globErr))
			continue
		}
		for _, group := range groups {
			key := group + " " + d.Function
			present[key] = true
			if known := p.instances[key]; known != nil && known.declared == d {
				continue
			} else if known != nil {
				known.close()
			}
			p.instances[key] = newInstance(d, group, len(groups) > 1)
		}
	}
	for key, i := range p.instances {
		if !present[key] {
			i.close()
			delete(p.instances, key)
		}
	}
	return err
}

func init() {
	inputs.Add(PluginName, func() telegraf.Input { return &Plugin{} })
}
