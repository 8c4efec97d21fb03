// Package truth is what an expert with a view into the simulator's mechanism would say: which RNIC has which symptom, from when to when, by which
// cause. It observes the mechanism from outside (engine.Observer) and goes to the truth file only; nothing that the collectors can read depends on
// it, and the mechanism does not know it.
package truth

import (
	"math"
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine"
)

// deletion is how a flow in use was deleted.
type deletion struct {
	at     time.Duration
	reason engine.DeletionReason
}

// Judge implements engine.Observer.
type Judge struct {
	hosts     []*engine.Host
	evidence  map[*engine.RNIC]*evidence
	deletions map[*engine.Entry]deletion
	next      time.Duration // of the next judgement
	verdicts  []Verdict
	isolation isolation
}

// Watch judges a fleet from its next step on.
func Watch(e *engine.Engine) *Judge {
	j := &Judge{hosts: e.Hosts(), evidence: map[*engine.RNIC]*evidence{}, deletions: map[*engine.Entry]deletion{}, next: period}
	for _, h := range j.hosts {
		for _, r := range h.RNICs {
			j.evidence[r] = &evidence{}
		}
	}
	e.Observe(j)
	return j
}

// Take returns what began or ended since the last call. Call it between steps.
func (j *Judge) Take() []Verdict {
	taken := j.verdicts
	j.verdicts = nil
	return taken
}

// FlowDeletedInUse remembers a deletion until the flow returns, or for returnsWithin.
func (j *Judge) FlowDeletedInUse(e *engine.Entry, reason engine.DeletionReason, now time.Duration) {
	j.deletions[e] = deletion{now, reason}
}

// FlowAddedByHand forgets the deletion: the flow returns because somebody wanted it to.
func (j *Judge) FlowAddedByHand(e *engine.Entry) { delete(j.deletions, e) }

// FlowInstalled counts a flow that returns after it was deleted in use.
func (j *Judge) FlowInstalled(e *engine.Entry, now time.Duration) {
	was, known := j.deletions[e]
	if !known {
		return
	}
	delete(j.deletions, e)
	if now-was.at > returnsWithin {
		return
	}
	seen := j.evidence[e.RNIC()]
	switch was.reason {
	case engine.OverFlowLimit:
		seen.crowdedReturns++
	case engine.EvictedFromCard:
		seen.evictedReturns++
		seen.returns++
	default:
		seen.returns++
	}
	seen.saw(s1, was.at, now)
}

// DeletionRequested counts deletions of aged flows.
func (j *Judge) DeletionRequested(r *engine.RNIC) { j.evidence[r].deletions++ }

// ConnectionSuspendedInUse counts them.
func (j *Judge) ConnectionSuspendedInUse(r *engine.RNIC, now time.Duration) {
	j.evidence[r].liveSuspensions++
	j.evidence[r].saw(s5, now, now)
}

// KernelStalled remembers whose driver stalled the kernel.
func (j *Judge) KernelStalled(r *engine.RNIC, now time.Duration) {
	j.evidence[r].stalledHost, j.evidence[r].stalledAt = true, now
}

// HostCrashed remembers whose driver crashed the host.
func (j *Judge) HostCrashed(r *engine.RNIC, now time.Duration) {
	j.evidence[r].crashedHost, j.evidence[r].crashedAt = true, now
}

// Transferred adds up the demand of flows deep in a chain, and what they get of it.
func (j *Judge) Transferred(t engine.Transfer) {
	if t.NarrowLink { // what it misses is not because of the masks
		return
	}
	// The chain that holds the flow back is the one that adds more latency; its RNIC has the symptom.
	r := t.Sender
	if r == nil || (t.Receiver != nil && t.Performance.B*t.QR > t.Performance.A*t.QL) {
		r = t.Receiver
	}
	seen := j.evidence[r]
	seen.demanded += t.DemandGbps
	if t.LatencyUs > deepLatency*t.Performance.LatencyUs(0, 0) {
		seen.deepDemand += t.DemandGbps
		seen.deepGranted += t.GrantedGbps
	}
}

// DirectionLoaded adds up what a direction lost to mask lookups. Where the other ends' chains have the greater share of the queries, the loss is
// theirs.
func (j *Judge) DirectionLoaded(r *engine.RNIC, d engine.Direction, l engine.DirectionLoad) {
	if l.OwnQueries < l.OthersQueries {
		return
	}
	seen := j.evidence[r]
	seen.granted[d] += l.GrantedGbps * l.Seconds
	seen.unmasked[d] += math.Min(l.WantGbps, l.HeadGbps) * l.Seconds
	if l.WantGbps > idleGbps && l.WantGbps >= nearlyFull*l.CapacityGbps && l.CapacityGbps < (1-queriedLoss)*l.HeadGbps {
		seen.full = true
	}
}

// StepEnded reads the states that are symptoms while they last, and judges once per period.
func (j *Judge) StepEnded(now time.Duration) {
	j.isolation.date(now)
	for _, h := range j.hosts {
		for _, r := range h.RNICs {
			j.evidence[r].observe(r, now)
		}
	}
	if now < j.next {
		return
	}
	j.next = now + period
	for _, h := range j.hosts {
		for _, r := range h.RNICs {
			j.verdicts = append(j.verdicts, j.evidence[r].judge(r, now)...)
		}
	}
	for entry, was := range j.deletions {
		if now-was.at > returnsWithin {
			delete(j.deletions, entry)
		}
	}
}
