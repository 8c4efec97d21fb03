// Package ltl is the Telegraf processor that runs compiled policies over the events of a host.
package ltl

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/influxdata/telegraf"
	"github.com/influxdata/telegraf/config"
	"github.com/influxdata/telegraf/plugins/processors"
	"github.com/influxdata/telegraf/selfstat"

	"github.com/wallwatch/wallwatch/collectors/internal/event"
	"github.com/wallwatch/wallwatch/collectors/internal/ltl"
)

//go:embed sample.conf
var sampleConfig string

// Violated is the kind of event that tells of a violation.
const Violated = "policy_violated"

// measurement is what policies are about; all other metrics pass through untouched.
const measurement = "event"

// maxFile is the most that a file of policies may hold.
const maxFile = 16 << 20

// Plugin is the configuration, the policies and what is known of their subjects.
type Plugin struct {
	Policies     string          `toml:"policies"`
	MostSubjects int             `toml:"most_subjects"`
	ForgetAfter  config.Duration `toml:"forget_after"`
	Settle       config.Duration `toml:"settle"`
	Patience     config.Duration `toml:"patience"`
	Drop         []string        `toml:"drop"`
	MostTold     int             `toml:"most_told"`
	Interval     config.Duration `toml:"state_interval"`
	Log          telegraf.Logger `toml:"-"`

	mu       sync.Mutex
	runner   *ltl.Runner
	held     held // events wait until none from before them can come
	removals removals
	dumps    dumps
	hash     string
	seen     os.FileInfo
	refused  bool
	tags     map[string]string // of the newest event: host and rack go with what is told
	told     map[string]*told
	events   event.Emitter
	stats    map[string]map[string]selfstat.Stat
	states   states
	done     chan struct{}
	stopped  sync.WaitGroup
	clock    func() time.Time
	interval time.Duration
}

// SampleConfig implements telegraf.PluginDescriber.
func (*Plugin) SampleConfig() string { return sampleConfig }

// Init checks the configuration; the file is read at the start.
func (p *Plugin) Init() error {
	switch {
	case p.Policies == "":
		return errors.New("policies is empty: it names the file of compiled policies")
	case p.MostSubjects < 1:
		return fmt.Errorf("most_subjects is %d; it must be at least 1", p.MostSubjects)
	case p.MostTold < 1:
		return fmt.Errorf("most_told is %d; it must be at least 1", p.MostTold)
	case p.ForgetAfter < 0:
		return fmt.Errorf("forget_after is %s; it cannot be negative", time.Duration(p.ForgetAfter))
	case p.Settle < 0 || p.Patience < 0:
		return errors.New("settle and patience cannot be negative")
	case p.Interval < config.Duration(time.Second):
		return fmt.Errorf("state_interval is %s; it must be at least 1s", time.Duration(p.Interval))
	}
	if p.clock == nil {
		p.clock = time.Now
	}
	if p.interval == 0 {
		p.interval = time.Second
	}
	p.told = map[string]*told{}
	p.stats = map[string]map[string]selfstat.Stat{}
	return nil
}

// Start reads the policies and lets timers run.
func (p *Plugin) Start(acc telegraf.Accumulator) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.load(acc)
	p.done = make(chan struct{})
	p.stopped.Go(func() {
		ticker := time.NewTicker(p.interval)
		defer ticker.Stop()
		for {
			select {
			case <-p.done:
				return
			case <-ticker.C:
				p.tick(acc)
			}
		}
	})
	return nil
}

// SetClock is for who runs the plugin on a clock of its own, with Tick in place of Start.
func (p *Plugin) SetClock(now func() time.Time) { p.clock = now }

// Tick does what Start does once a second.
func (p *Plugin) Tick(acc telegraf.Accumulator) { p.tick(acc) }

// Stop ends the timers. Steps that are open stay open: what they would have said is unknown after a restart anyway.
func (p *Plugin) Stop() {
	close(p.done)
	p.stopped.Wait()
}

// Add checks one metric and passes it on, unless its kind stays on the host.
func (p *Plugin) Add(m telegraf.Metric, acc telegraf.Accumulator) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dumps.note(m)
	kind, _ := m.GetTag("kind")
	isEvent := m.Name() == measurement && kind != "" && kind != Violated
	if p.runner != nil {
		p.look(m, kind, isEvent, acc)
	}
	if isEvent && p.stays(kind) {
		m.Drop()
	} else {
		acc.AddMetric(m)
	}
	return nil
}

// look holds what policies speak of, and what says that events were lost.
func (p *Plugin) look(m telegraf.Metric, kind string, isEvent bool, acc telegraf.Accumulator) {
	if left, there := m.GetField("flow_events_left_out"); there && left != int64(0) && left != uint64(0) {
		p.hold(acc, &ltl.Event{Kind: ltl.FlowsLost, AtUs: m.Time().Add(leftOutAfter).UnixMicro()})
	}
	if !isEvent {
		return
	}
	p.tags = m.Tags()
	if p.runner.Means(kind) || kind == removal {
		p.hold(acc, &ltl.Event{Kind: kind, PCI: p.tags["pci"], AtUs: m.Time().UnixMicro(), Fields: m.Fields()})
	}
}

// leftOutAfter is the time from a dump to the last event that it may have: each has a microsecond of its own.
const leftOutAfter = time.Second

func (p *Plugin) hold(acc telegraf.Accumulator, e *ltl.Event) {
	p.take(acc, p.held.add(e))
}

// take runs events whose time has come.
func (p *Plugin) take(acc telegraf.Accumulator, ready []*ltl.Event) {
	events := make([]*ltl.Event, 0, len(ready))
	for _, e := range ready {
		if removed := p.removals.note(e); removed != nil {
			events = append(events, removed)
		}
		events = append(events, e)
	}
	p.runner.TakeAll(events, func(found []ltl.Violation) { p.tellAll(acc, found) })
}

func (p *Plugin) stays(kind string) bool {
	for _, pattern := range p.Drop {
		if prefix, open := strings.CutSuffix(pattern, "*"); kind == pattern || (open && strings.HasPrefix(kind, prefix)) {
			return true
		}
	}
	return false
}

func (p *Plugin) tick(acc telegraf.Accumulator) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.load(acc)
	if p.runner == nil {
		return
	}
	settled := p.clock().Add(-time.Duration(p.Patience)).UnixMicro()
	p.take(acc, p.held.before(settled))
	p.tellAll(acc, p.runner.Tick(settled))
	p.tellRest(acc)
	p.report(acc, false)
}

func init() {
	processors.AddStreaming("ltl", func() telegraf.StreamingProcessor {
		return &Plugin{Policies: "/var/lib/wallwatch-agent/policies/policies.json", MostSubjects: 200_000, ForgetAfter: config.Duration(24 * time.Hour), Settle: config.Duration(10 * time.Minute),
			Patience: config.Duration(15 * time.Second), Drop: []string{"flow_*"}, MostTold: 20, Interval: config.Duration(time.Minute)}
	})
}
