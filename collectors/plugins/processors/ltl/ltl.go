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

// Violated is the kind of event that reports a violation.
const Violated = "policy_violated"

// measurement is what policies are about; all other metrics pass through untouched.
const measurement = "event"

// maxFile is the largest file of policies, in bytes.
const maxFile = 16 << 20

// Plugin is the configuration, the policies and the state of their subjects.
type Plugin struct {
	Policies      string          `toml:"policies"`
	MaxSubjects   int             `toml:"max_subjects"`
	ForgetAfter   config.Duration `toml:"forget_after"`
	Settle        config.Duration `toml:"settle"`
	Patience      config.Duration `toml:"patience"`
	Drop          []string        `toml:"drop"`
	MaxViolations int             `toml:"max_violations"`
	Interval      config.Duration `toml:"state_interval"`
	Log           telegraf.Logger `toml:"-"`

	mu                 sync.Mutex
	runner             *ltl.Runner
	waiting            waiting // events wait until no older one can come
	removals           removals
	dumps              dumps
	hash               string
	loaded             os.FileInfo
	refused            bool
	tags               map[string]string // host and rack, as metrics have them: reports carry them too; nil before the first metric
	reportedViolations map[string]*violationCount
	events             event.Emitter
	stats              map[string]map[string]selfstat.Stat
	states             states
	done               chan struct{}
	stopped            sync.WaitGroup
	clock              func() time.Time
	interval           time.Duration
}

// SampleConfig implements telegraf.PluginDescriber.
func (*Plugin) SampleConfig() string { return sampleConfig }

// Init checks the configuration; the file is read at the start.
func (p *Plugin) Init() error {
	switch {
	case p.Policies == "":
		return errors.New("policies is empty: set it to the file of compiled policies")
	case p.MaxSubjects < 1:
		return fmt.Errorf("max_subjects is %d; it must be at least 1", p.MaxSubjects)
	case p.MaxViolations < 1:
		return fmt.Errorf("max_violations is %d; it must be at least 1", p.MaxViolations)
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
	p.reportedViolations = map[string]*violationCount{}
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

// SetClock sets the clock of a caller that calls Tick in place of Start.
func (p *Plugin) SetClock(now func() time.Time) { p.clock = now }

// Tick does what Start does once a second.
func (p *Plugin) Tick(acc telegraf.Accumulator) { p.tick(acc) }

// Stop ends the timers. Open steps stay open: their outcome is unknown after a restart anyway.
func (p *Plugin) Stop() {
	close(p.done)
	p.stopped.Wait()
}

// Add checks one metric and passes it on, unless its kind stays on the host.
func (p *Plugin) Add(m telegraf.Metric, acc telegraf.Accumulator) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dumps.note(m)
	p.noteHost(m)
	kind, _ := m.GetTag("kind")
	isEvent := m.Name() == measurement && kind != "" && kind != Violated
	if p.runner != nil {
		p.watch(m, kind, isEvent, acc)
	}
	if isEvent && p.isDropped(kind) {
		m.Drop()
	} else {
		acc.AddMetric(m)
	}
	return nil
}

// watch queues the events that policies use, and those that report lost events.
func (p *Plugin) watch(m telegraf.Metric, kind string, isEvent bool, acc telegraf.Accumulator) {
	if left, found := m.GetField("flow_events_left_out"); found && left != int64(0) && left != uint64(0) {
		p.enqueue(acc, &ltl.Event{Kind: ltl.FlowsLost, AtUs: m.Time().Add(leftOutAfter).UnixMicro()})
	}
	if !isEvent {
		return
	}
	if p.runner.Means(kind) || kind == removal {
		pci, _ := m.GetTag("pci")
		p.enqueue(acc, &ltl.Event{Kind: kind, PCI: pci, AtUs: m.Time().UnixMicro(), Fields: m.Fields()})
	}
}

// noteHost learns the host's tags from any metric: a host may have no event for hours, and its policies have a state.
func (p *Plugin) noteHost(m telegraf.Metric) {
	host, _ := m.GetTag("host")
	rack, _ := m.GetTag("rack")
	if host == "" || (p.tags["host"] == host && (rack == "" || p.tags["rack"] == rack)) {
		return
	}
	p.tags = map[string]string{"host": host}
	if rack != "" {
		p.tags["rack"] = rack
	}
}

// leftOutAfter is the time from a dump to the last event that it may have: each has a microsecond of its own.
const leftOutAfter = time.Second

func (p *Plugin) enqueue(acc telegraf.Accumulator, e *ltl.Event) {
	p.process(acc, p.waiting.add(e))
}

// process runs events that no longer wait.
func (p *Plugin) process(acc telegraf.Accumulator, ready []*ltl.Event) {
	events := make([]*ltl.Event, 0, len(ready))
	for _, e := range ready {
		if removed := p.removals.note(e); removed != nil {
			events = append(events, removed)
		}
		events = append(events, e)
	}
	p.runner.TakeAll(events, func(found []ltl.Violation) { p.reportViolations(acc, found) })
}

func (p *Plugin) isDropped(kind string) bool {
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
	p.process(acc, p.waiting.before(settled))
	p.reportViolations(acc, p.runner.Tick(settled))
	p.reportLeftOut(acc)
	p.reportStates(acc, false)
}

func init() {
	processors.AddStreaming("ltl", func() telegraf.StreamingProcessor {
		return &Plugin{Policies: "/var/lib/wallwatch-agent/policies/policies.json", MaxSubjects: 200_000,
			ForgetAfter: config.Duration(24 * time.Hour), Settle: config.Duration(10 * time.Minute),
			Patience: config.Duration(15 * time.Second), Drop: []string{"flow_*"}, MaxViolations: 20, Interval: config.Duration(time.Minute)}
	})
}
