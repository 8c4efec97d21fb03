package nf

import (
	"errors"
	"io/fs"
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

// rates are means since the last sample; an event that was not counted at all in this time has none.
func (i *instance) rates(r *reading, next *sample) {
	elapsed := next.at.Sub(i.last.at).Seconds()
	var grown [perfcount.Events]float64
	var counted [perfcount.Events]bool
	share, any := 1.0, false
	for event, count := range next.counts {
		before := i.last.counts[event]
		if count == nil || before == nil || elapsed <= 0 || count.Value < before.Value || count.Enabled < before.Enabled {
			continue
		}
		enabled, running := count.Enabled-before.Enabled, count.Running-before.Running
		if enabled > 0 {
			share, any = min(share, running.Seconds()/enabled.Seconds()), true
		}
		if enabled > 0 && running == 0 {
			r.missing++ // other events had the counters all the time
			continue
		}
		grown[event], counted[event] = count.Value-before.Value, true
	}
	for event, field := range rateFields {
		if counted[event] {
			r.fields[field] = grown[event] / elapsed
		}
	}
	if counted[perfcount.Instructions] && counted[perfcount.Cycles] && grown[perfcount.Cycles] > 0 {
		r.fields["instructions_per_cycle"] = grown[perfcount.Instructions] / grown[perfcount.Cycles]
	}
	if any {
		r.fields["counted_share"] = min(share, 1)
	}
	for _, count := range next.counts {
		if count != nil {
			r.fields["cache_level"] = string(i.counting.Level())
			break
		}
	}
}
