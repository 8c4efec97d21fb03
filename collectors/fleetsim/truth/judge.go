// Package truth is what an expert with a view into the simulator's mechanism would say: which RNIC has which symptom, from when to when, by which
// cause. It observes the mechanism from outside (engine.Observer) and goes to the truth file only; nothing that the collectors can read depends on
// it, and the mechanism does not know it.
package truth

import (
	"math"
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine"
)

const (
	// period is the time over which evidence is judged.
	period = 5 * time.Second
	// returnsPerPeriod is when flows that are offloaded again after they were deleted in spite of their traffic count as S1,
	// liveSuspensionsPerPeriod when connections that were taken out of the hardware in spite of their traffic count as S5.
	returnsPerPeriod         = 10
	liveSuspensionsPerPeriod = 10
	// returnsWithin is the longest time between such a deletion and the return.
	returnsWithin = time.Minute
	// A deletion that takes slowDeletion times that of an empty table is S4, once deletions take deletingShare of the card's time: then
	// whatever else is asked of it has to wait.
	slowDeletion  = 7
	deletingShare = 0.25
	// queriedLoss is the share of what a direction would get from a card without masks that it must miss for S6, idleGbps what it must ask for.
	queriedLoss = 0.2
	idleGbps    = 1.0
	// Or single flows miss it: deepLatency is how many times its latency at the head of the chains makes a flow deep in it, deepShare the share of the demand
	// that deep flows must have, and deepLoss the share of it that they must miss for S6.
	deepLatency, deepShare, deepLoss = 2.0, 0.2, 0.2
	// lastingPeriods is how many periods in a row S4 and S6 need: one alone is a job that ends or begins.
	lastingPeriods = 2
	quietPeriods   = 9 // periods without evidence that end a symptom
	// Above a threshold and just below it the physics is the same, so what reaches nearly of it is marginal: an expert would contradict neither
	// who calls it a symptom nor who does not.
	nearly = 0.5
	// nearlySlow is the same for slowDeletion, whose excess over 1 is what counts.
	nearlySlow = 1 + nearly*(slowDeletion-1)
	// nearlyFull is the share of what the masks leave of a direction from which it is marginal that nothing is lost yet.
	nearlyFull = 0.85
)

// The symptoms by number.
const (
	s1 = iota
	s2
	s3
	s4
	s5
	s6
	s7
	s8
	symptoms
)

// Their marginal forms, where a symptom has a threshold.
const (
	nearS1 = symptoms + iota
	nearS4
	nearS5
	nearS6
	judgements
)

// marginalOf is the symptom of a marginal form.
var marginalOf = map[int]int{nearS1: s1, nearS4: s4, nearS5: s5, nearS6: s6}

// evidence is what was seen of one RNIC since the last judgement.
type evidence struct {
	returns, evictedReturns           int
	crowdedReturns                    int // after deletions by a switch above its flow limit
	liveSuspensions                   int
	deletions                         int
	slow, deep                        int // periods in a row
	nearlySlow, nearlyDeep            int
	full                              bool // a direction carried nearly all that its masks leave of it
	deepDemand, deepGranted, demanded float64
	granted, unmasked                 [2]float64 // by direction, in Gbit: what the chain let through, and what an empty one would have
	spans                             [judgements]span
	quiet                             [judgements]int
	last                              [judgements]time.Duration // time of the last evidence of what is open
	open                              [judgements]*Verdict
	stalledHost, crashedHost          bool // its driver did, and the host has not recovered yet
	stalledAt, crashedAt              time.Duration
}

// span is the time between the first and the last evidence of a symptom in a period.
type span struct {
	seen     bool
	from, to time.Duration
}

func (e *evidence) saw(symptom int, from, to time.Duration) {
	s := &e.spans[symptom]
	if !s.seen {
		*s = span{seen: true, from: from}
	}
	s.to = to
}

// Verdict is one line of the truth: a symptom of an RNIC over a time. To is nil while it lasts. A marginal one may be called a symptom or not.
type Verdict struct {
	Symptom, Cause string
	Marginal       bool
	RNIC           *engine.RNIC
	From           time.Duration
	To             *time.Duration
	Judged         time.Duration // when this became known
}

// The causes of the symptoms S1 to S8 in the simulator, where causeOf knows no better.
var causes = [symptoms]string{"C5", "C2", "C3", "C4", "C5", "C6", "C7", "C8"}

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

func (e *evidence) observe(r *engine.RNIC, now time.Duration) {
	if e.stalledHost && r.Host.Stalled(now) {
		e.saw(s2, e.stalledAt, now)
	}
	if e.crashedHost && r.Host.OutOfService(now) {
		e.saw(s3, e.crashedAt, now)
	}
	if since, impaired := r.LinkImpaired(); impaired {
		e.saw(s7, since, now)
	}
	if since, stopped := r.FirmwareStopped(); stopped {
		e.saw(s8, since, now)
	}
}

// settle adds what is a symptom only by its amount in a period, and removes what was too little.
func (e *evidence) settle(r *engine.RNIC, now time.Duration) {
	if near := e.returns + e.crowdedReturns; float64(near) >= nearly*returnsPerPeriod {
		e.spans[nearS1] = e.spans[s1]
	}
	if e.returns < returnsPerPeriod {
		e.spans[s1] = span{}
	}
	if float64(e.liveSuspensions) >= nearly*liveSuspensionsPerPeriod {
		e.spans[nearS5] = e.spans[s5]
	}
	if e.liveSuspensions < liveSuspensionsPerPeriod {
		e.spans[s5] = span{}
	}
	e.settleDeletions(r, now)
	deep := e.deepDemand > deepShare*e.demanded && e.deepGranted < (1-deepLoss)*e.deepDemand
	near := e.full || e.deepDemand > nearly*deepShare*e.demanded && e.deepGranted < (1-nearly*deepLoss)*e.deepDemand
	for d := range e.granted {
		busy := e.unmasked[d] > idleGbps*period.Seconds()
		deep = deep || busy && e.granted[d] < (1-queriedLoss)*e.unmasked[d]
		near = near || busy && e.granted[d] < (1-nearly*queriedLoss)*e.unmasked[d]
	}
	e.lasts(s6, &e.deep, deep, now)
	e.lasts(nearS6, &e.nearlyDeep, near, now)
}

// settleDeletions judges how long deletions took. A deletion that is slow only as seen from the host, because late counters take the interface,
// is marginal.
func (e *evidence) settleDeletions(r *engine.RNIC, now time.Duration) {
	firmware, fromHost := r.DeletionTimes()
	reaches := func(each time.Duration, times, share float64) bool {
		deleting := time.Duration(e.deletions) * each
		return each.Seconds() >= times*r.Model.Costs.Delete.Seconds() && deleting.Seconds() >= share*deletingShare*period.Seconds()
	}
	e.lasts(s4, &e.slow, reaches(firmware, slowDeletion, 1), now)
	e.lasts(nearS4, &e.nearlySlow, reaches(fromHost, nearlySlow, nearly), now)
}

// lasts counts periods in a row, and notes a symptom once there are enough of them.
func (e *evidence) lasts(symptom int, periods *int, present bool, now time.Duration) {
	if !present {
		*periods = 0
		return
	}
	if *periods++; *periods >= lastingPeriods {
		e.saw(symptom, now-time.Duration(*periods)*period, now)
	}
}

// judge closes a period and returns what began or ended with it.
func (e *evidence) judge(r *engine.RNIC, now time.Duration) []Verdict {
	e.settle(r, now)
	var changes []Verdict
	for i, s := range e.spans {
		switch {
		case s.seen && e.open[i] == nil:
			e.open[i] = e.verdict(r, i, s.from, now)
			changes = append(changes, *e.open[i])
			e.quiet[i], e.last[i] = 0, s.to
		case s.seen:
			e.quiet[i], e.last[i] = 0, s.to
		case e.open[i] != nil:
			if e.quiet[i]++; e.quiet[i] >= quietPeriods {
				end := e.last[i]
				e.open[i].To, e.open[i].Judged = &end, now
				changes = append(changes, *e.open[i])
				e.open[i] = nil
			}
		}
	}
	e.returns, e.evictedReturns, e.crowdedReturns, e.liveSuspensions, e.deletions = 0, 0, 0, 0, 0
	e.deepDemand, e.deepGranted, e.demanded, e.full = 0, 0, 0, false
	e.granted, e.unmasked = [2]float64{}, [2]float64{}
	e.spans = [judgements]span{}
	e.crashedHost = e.crashedHost && r.Host.OutOfService(now)
	e.stalledHost = e.stalledHost && r.Host.Stalled(now)
	return changes
}

func (e *evidence) verdict(r *engine.RNIC, judgement int, from, now time.Duration) *Verdict {
	symptom, marginal := marginalOf[judgement]
	if !marginal {
		symptom = judgement
	}
	return &Verdict{Symptom: "S" + string(rune('1'+symptom)), Cause: e.causeOf(r, symptom), Marginal: marginal, RNIC: r, From: from, Judged: now}
}

// causeOf is the cause behind a symptom that begins: flows are offloaded again and again because the firmware deletes them or because its counters
// are late; and commands that time out because the card has stopped are caused by C8.
func (e *evidence) causeOf(r *engine.RNIC, symptom int) string {
	_, stopped := r.FirmwareStopped()
	switch {
	case symptom == s1 && 2*e.evictedReturns > e.returns:
		return "C1"
	case symptom == s2 && stopped:
		return causes[s8]
	}
	return causes[symptom]
}
