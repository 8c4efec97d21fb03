package ltl

import (
	"time"

	"github.com/influxdata/telegraf"
	"github.com/influxdata/telegraf/selfstat"

	"github.com/wallwatch/wallwatch/collectors/internal/ltl"
)

// State is the measurement with the state of policies.
const State = "policy_state"

// atLeastEvery is how many intervals may pass without a message of a policy that does not change.
const atLeastEvery = 10

// states is what was reported of the policies' state.
type states struct {
	since time.Time // of the last report
	last  map[place]*reported
}

type place struct{ policy, pci string }

type reported struct {
	ltl.Counts
	at     time.Time
	silent int // reports since the last message
}

// reportStates reports the state of the policies at the end of each interval, or at once, and sets the plugin's own metrics, which Telegraf's
// input "internal" collects. Before the first metric has come, the host's name is unknown, and a state without it would be refused: it waits.
func (p *Plugin) reportStates(acc telegraf.Accumulator, now bool) {
	counts := p.dumps.withoutUnseen(p.runner.Counts())
	p.setStats(counts)
	if p.tags == nil {
		return
	}
	at := p.clock()
	if !now && at.Sub(p.states.since) < time.Duration(p.Interval) {
		return
	}
	if p.states.last == nil {
		p.states.last = map[place]*reported{}
	}
	for _, c := range counts {
		where := place{c.Policy.ID, c.PCI}
		before := p.states.last[where]
		if before == nil {
			before = &reported{at: p.states.since, silent: atLeastEvery}
			p.states.last[where] = before
		}
		before.silent++
		if !now && before.silent < atLeastEvery && before.unchanged(&c) {
			continue
		}
		p.emitState(acc, &c, before, at)
		*before = reported{Counts: c, at: at}
	}
	p.states.since = at
}

// unchanged reports that nothing has changed that a reader would act on; more events alone are not a change.
func (r *reported) unchanged(c *ltl.Counts) bool {
	return r.Subjects == c.Subjects && r.Holding == c.Holding && r.Satisfied == c.Satisfied && r.Unknown == c.Unknown &&
		r.Violations == c.Violations && r.Late == c.Late && r.Gaps == c.Gaps && r.Evicted == c.Evicted
}

func (p *Plugin) emitState(acc telegraf.Accumulator, c *ltl.Counts, before *reported, at time.Time) {
	tags := map[string]string{"policy": c.Policy.ID, "revision": c.Policy.Revision}
	if c.PCI != "" {
		tags["pci"] = c.PCI
	}
	fields := map[string]any{
		"subjects": c.Subjects, "holding": c.Holding, "satisfied": c.Satisfied, "unknown": c.Unknown,
		"violations": c.Violations - before.Violations, "events": c.Events - before.Events, "late": c.Late - before.Late,
		"gaps": c.Gaps - before.Gaps, "evicted": c.Evicted - before.Evicted, "period_s": at.Sub(before.at).Seconds(),
	}
	if c.Subjects > 0 {
		fields["coverage"] = float64(c.Subjects-c.Unknown) / float64(c.Subjects)
	}
	tagged{Accumulator: acc, tags: p.tags}.AddFields(State, fields, tags, at)
}

func (p *Plugin) setStats(counts []ltl.Counts) {
	sums := map[string]map[string]int64{}
	for _, c := range counts {
		sum := sums[c.Policy.ID]
		if sum == nil {
			sum = map[string]int64{}
			sums[c.Policy.ID] = sum
		}
		sum["subjects"] += int64(c.Subjects)
		sum["subjects_unknown"] += int64(c.Unknown)
		sum["violations"] += int64(c.Violations)    // #nosec G115 -- counts from 0
		sum["events_late"] += int64(c.Late)         // #nosec G115 -- counts from 0
		sum["subjects_evicted"] += int64(c.Evicted) // #nosec G115 -- counts from 0
	}
	for policy, sum := range sums {
		stats := p.stats[policy]
		if stats == nil {
			stats = map[string]selfstat.Stat{}
			p.stats[policy] = stats
		}
		for name, value := range sum {
			if stats[name] == nil {
				stats[name] = selfstat.Register("ltl", name, map[string]string{"policy": policy})
			}
			stats[name].Set(value)
		}
	}
}
