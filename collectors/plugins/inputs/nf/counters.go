package nf

import (
	"errors"
	"io/fs"
	"slices"
	"time"

	"github.com/wallwatch/wallwatch/collectors/internal/perfcount"
)

// refusalWait is how long counters are left alone after the host refused them.
const refusalWait = 5 * time.Minute

var rateFields = map[perfcount.Event]string{
	perfcount.Instructions: "instructions_per_s",
	perfcount.CacheReads:   "cache_reads_per_s",
	perfcount.CacheWrites:  "cache_writes_per_s",
	perfcount.MemoryReads:  "memory_reads_per_s",
	perfcount.MemoryWrites: "memory_writes_per_s",
}

func (i *instance) readCounters(p *Plugin, r *reading, next *sample) {
	if p.counters == nil {
		r.limit("hardware counters are switched off (perf = \"off\")")
		return
	}
	if i.counting == nil && !i.openCounters(p, r, next.at) {
		return
	}
	counts, err := i.counting.Read()
	for _, sentence := range i.counting.Limits() {
		r.limit(sentence)
	}
	if err != nil {
		r.missing++
		i.close()
		return
	}
	next.counts = counts
	i.rates(r, next)
}

// openCounters reports whether the group is counted from now on.
func (i *instance) openCounters(p *Plugin, r *reading, now time.Time) bool {
	if now.Before(i.retry) {
		r.limit(i.refusal)
		return false
	}
	if len(i.cpus) == 0 {
		return false // said already
	}
	opened, err := p.counters.Open(i.group, i.cpus)
	switch {
	case errors.Is(err, perfcount.ErrGone):
		return false
	case errors.Is(err, fs.ErrNotExist):
		i.refusal = "hardware counters of this control group are not recorded"
	case err != nil:
		i.refusal = err.Error()
	default:
		i.counting, i.last.counts = opened, perfcount.Counts{} // what was counted before belongs to another group
		return true
	}
	i.retry = now.Add(refusalWait)
	r.limit(i.refusal)
	return false
}

// growth is what was counted since the last sample.
type growth struct {
	by    [perfcount.Events]float64
	known [perfcount.Events]bool
	// share is the smallest share of its time for which an event was counted; shareKnown is false where none was enabled.
	share      float64
	shareKnown bool
	unlucky    int64 // events that did not get a counter in all the time
}

func grown(before, now perfcount.Counts) growth {
	g := growth{share: 1}
	for event, count := range now {
		then := before[event]
		if count == nil || then == nil || count.Value < then.Value || count.Enabled < then.Enabled {
			continue
		}
		enabled, running := count.Enabled-then.Enabled, count.Running-then.Running
		if enabled > 0 {
			g.share, g.shareKnown = min(g.share, running.Seconds()/enabled.Seconds()), true
		}
		if enabled > 0 && running == 0 {
			g.unlucky++
			continue
		}
		g.by[event], g.known[event] = count.Value-then.Value, true
	}
	return g
}

// rates are means since the last sample; an event that was not counted at all in this time has none.
func (i *instance) rates(r *reading, next *sample) {
	if slices.ContainsFunc(next.counts[:], func(count *perfcount.Count) bool { return count != nil }) {
		r.fields["cache_level"] = string(i.counting.Level())
	}
	elapsed := next.at.Sub(i.last.at).Seconds()
	if elapsed <= 0 {
		return
	}
	g := grown(i.last.counts, next.counts)
	r.missing += g.unlucky
	for event, field := range rateFields {
		if g.known[event] {
			r.fields[field] = g.by[event] / elapsed
		}
	}
	if g.known[perfcount.Instructions] && g.known[perfcount.Cycles] && g.by[perfcount.Cycles] > 0 {
		r.fields["instructions_per_cycle"] = g.by[perfcount.Instructions] / g.by[perfcount.Cycles]
	}
	if g.shareKnown {
		r.fields["counted_share"] = min(g.share, 1)
	}
}
