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
	Settle       config.Duration `toml:"settle"`
	Patience     config.Duration `toml:"patience"`
	Drop         []string        `toml:"drop"`
	MostTold     int             `toml:"most_told"`
	Log          telegraf.Logger `toml:"-"`

	mu       sync.Mutex
	runner   *ltl.Runner
	hash     string
	seen     os.FileInfo
	refused  bool
	tags     map[string]string // of the newest event: host and rack go with a violation
	told     map[string]*told
	events   event.Emitter
	stats    map[string]map[string]selfstat.Stat
	done     chan struct{}
	stopped  sync.WaitGroup
	clock    func() time.Time
	interval time.Duration
}

// told is what was said of one policy since a time.
type told struct {
	since   time.Time
	count   int
	leftOut int64
}

// tellingPeriod is the time for which most_told counts.
const tellingPeriod = 10 * time.Second

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
	case p.Settle < 0 || p.Patience < 0:
		return errors.New("settle and patience cannot be negative")
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
	p.load()
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

// Stop ends the timers. Steps that are open stay open: what they would have said is unknown after a restart anyway.
func (p *Plugin) Stop() {
	close(p.done)
	p.stopped.Wait()
}

// Add checks one metric and passes it on, unless its kind stays on the host.
func (p *Plugin) Add(m telegraf.Metric, acc telegraf.Accumulator) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.runner == nil {
		acc.AddMetric(m)
		return nil
	}
	p.noteLoss(m)
	kind, isEvent := m.GetTag("kind")
	if m.Name() != measurement || !isEvent {
		acc.AddMetric(m)
		return nil
	}
	p.tags = m.Tags()
	for _, violation := range p.runner.Take(&ltl.Event{Kind: kind, PCI: p.tags["pci"], AtUs: m.Time().UnixMicro(), Fields: m.Fields()}) {
		p.tell(acc, &violation)
	}
	if p.stays(kind) {
		m.Drop()
	} else {
		acc.AddMetric(m)
	}
	return nil
}

func (p *Plugin) stays(kind string) bool {
	for _, pattern := range p.Drop {
		if prefix, open := strings.CutSuffix(pattern, "*"); kind == pattern || (open && strings.HasPrefix(kind, prefix)) {
			return true
		}
	}
	return false
}

// lossOf says which subjects lose events when one of these happens.
var lossOf = map[string][]string{"kernel_log_lost": {"host", "rnic", "command"}, "cni_lost": {"vf"}}

// noteLoss looks for what says that events were lost: a policy must not take what it did not see for what did not happen.
func (p *Plugin) noteLoss(m telegraf.Metric) {
	if left, there := m.GetField("flow_events_left_out"); there && left != int64(0) && left != uint64(0) {
		p.runner.Lose("flow")
	}
	if kind, there := m.GetTag("kind"); there {
		for _, subject := range lossOf[kind] {
			p.runner.Lose(subject)
		}
	}
}

func (p *Plugin) tick(acc telegraf.Accumulator) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.load()
	if p.runner == nil {
		return
	}
	for _, violation := range p.runner.Tick(p.clock().Add(-time.Duration(p.Patience)).UnixMicro()) {
		p.tell(acc, &violation)
	}
	p.tellRest(acc)
	p.report()
}

// mayTell counts a violation, and says whether it is one of the first of its period: a card that loses all its flows would flood the network.
func (p *Plugin) mayTell(policy string) bool {
	now := p.clock()
	t := p.told[policy]
	if t == nil {
		t = &told{since: now}
		p.told[policy] = t
	}
	if t.leftOut == 0 && now.Sub(t.since) >= tellingPeriod {
		t.since, t.count = now, 0
	}
	if t.count++; t.count > p.MostTold {
		t.leftOut++
		return false
	}
	return true
}

// tellRest says how many violations were left out, at the end of their period.
func (p *Plugin) tellRest(acc telegraf.Accumulator) {
	now := p.clock()
	for policy, t := range p.told {
		if t.leftOut == 0 || now.Sub(t.since) < tellingPeriod {
			continue
		}
		detail := fmt.Sprintf("The policy was violated %d more times in %s.", t.leftOut, now.Sub(t.since).Round(time.Second))
		p.events.EmitFields(tagged{Accumulator: acc, tags: p.tags}, now, Violated, "", detail, map[string]any{"policy": policy, "left_out": t.leftOut})
		*t = told{since: now}
	}
}

func (p *Plugin) tell(acc telegraf.Accumulator, v *ltl.Violation) {
	if !p.mayTell(v.Policy.ID) {
		return
	}
	steps := make([]string, 0, len(v.Trace))
	for _, step := range v.Trace {
		steps = append(steps, time.UnixMicro(step.AtUs).UTC().Format("15:04:05.000000")+" "+step.Kind)
	}
	relay := tagged{Accumulator: acc, tags: p.tags}
	p.events.EmitFields(relay, v.Time(), Violated, v.PCI, v.Policy.Violation, map[string]any{
		"policy": v.Policy.ID, "subject": v.Subject, "trace": strings.Join(steps, ", "), "severity": v.Policy.Severity,
	})
}

// tagged adds the host's tags to events of our own: those of other inputs carry them already when they come here.
type tagged struct {
	telegraf.Accumulator
	tags map[string]string
}

// AddFields adds an event with the host's tags.
func (t tagged) AddFields(name string, fields map[string]any, tags map[string]string, at ...time.Time) {
	for tag, value := range t.tags {
		if _, there := tags[tag]; !there && (tag == "host" || tag == "rack") {
			tags[tag] = value
		}
	}
	t.Accumulator.AddFields(name, fields, tags, at...)
}

// load reads the file when it has changed. One with a mistake is refused once, and the policies before go on.
func (p *Plugin) load() {
	info, err := os.Stat(p.Policies)
	if err != nil {
		if p.seen != nil || !os.IsNotExist(err) {
			p.refuse(err)
		}
		return
	}
	if p.seen != nil && info.ModTime().Equal(p.seen.ModTime()) && info.Size() == p.seen.Size() {
		return
	}
	p.seen = info
	if info.Size() > maxFile {
		p.refuse(fmt.Errorf("%s holds %d bytes; %d is the most", p.Policies, info.Size(), maxFile))
		return
	}
	text, err := os.ReadFile(p.Policies)
	if err != nil {
		p.refuse(err)
		return
	}
	policies, hash, err := ltl.Parse(text)
	switch {
	case err != nil:
		p.refuse(fmt.Errorf("%s: %w", p.Policies, err))
	case hash == p.hash:
		p.refused = false
	default:
		p.runner = ltl.New(policies, ltl.Options{MostSubjects: p.MostSubjects, KnownFromUs: p.clock().Add(time.Duration(p.Settle)).UnixMicro()})
		p.hash, p.refused = hash, false
		p.Log.Infof("%d policies are watched (%s)", len(policies), hash)
	}
}

func (p *Plugin) refuse(err error) {
	if !p.refused {
		p.Log.Errorf("the policies are not taken, those before go on: %v", err)
	}
	p.refused = true
}

// report sets the plugin's own metrics, which Telegraf's input "internal" collects.
func (p *Plugin) report() {
	for policy, counts := range p.runner.Counts() {
		stats := p.stats[policy]
		if stats == nil {
			stats = map[string]selfstat.Stat{}
			for _, name := range []string{"subjects", "subjects_unknown", "violations", "events_late", "subjects_evicted"} {
				stats[name] = selfstat.Register("ltl", name, map[string]string{"policy": policy})
			}
			p.stats[policy] = stats
		}
		stats["subjects"].Set(int64(counts.Subjects))
		stats["subjects_unknown"].Set(int64(counts.Unknown))
		stats["violations"].Set(int64(counts.Violations))    // #nosec G115 -- counts from 0
		stats["events_late"].Set(int64(counts.Late))         // #nosec G115 -- counts from 0
		stats["subjects_evicted"].Set(int64(counts.Evicted)) // #nosec G115 -- counts from 0
	}
}

func init() {
	processors.AddStreaming("ltl", func() telegraf.StreamingProcessor {
		return &Plugin{Policies: "/var/lib/wallwatch-agent/policies.json", MostSubjects: 200_000, Settle: config.Duration(10 * time.Minute),
			Patience: config.Duration(5 * time.Second), Drop: []string{"flow_*"}, MostTold: 20}
	})
}
