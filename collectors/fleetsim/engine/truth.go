package engine

import (
	"math"
	"time"
)

// What an expert with a view into the mechanism would say. It goes to the truth file only; nothing that the collectors
// can read depends on it.
const (
	truthPeriod = 5 * time.Second // evidence is judged over this time
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

// evidence is what was seen of one card since the last judgement.
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
	RNIC           *RNIC
	From           time.Duration
	To             *time.Duration
	Judged         time.Duration // when this became known
}

// The causes of the symptoms S1 to S8 in the simulator, where causeOf knows no better.
var causes = [symptoms]string{"C5", "C2", "C3", "C4", "C5", "C6", "C7", "C8"}

func (c *connection) noteDepth(latencyUs float64) {
	p := c.model()
	if c.onNarrowLink() { // what it misses is not the masks' doing
		return
	}
	deep := latencyUs > deepLatency*p.LatencyUs(0, 0)
	ql, qr := c.positions()
	// The chain that holds the flow back is the one that adds more latency; its RNIC has the symptom.
	r := c.src.RNIC
	if r == nil || (c.dst.RNIC != nil && p.B*qr > p.A*ql) {
		r = c.dst.RNIC
	}
	demand := c.demandGbps * c.limited()
	r.truth.demanded += demand
	if deep {
		r.truth.deepDemand += demand
		r.truth.deepGranted += c.rateGbps
	}
}

// noteQueries takes down what a direction lost to mask queries in a step. Where the other ends' chains have the greater part in the
// queries, the loss is theirs.
func (r *RNIC) noteQueries(d Direction, l *load, seconds float64) {
	own, others := l.means()
	if d == Ingress {
		own, others = others, own
	}
	if own < others {
		return
	}
	head := math.Min(r.Model.Performance.BandwidthGbps(0, 0), r.pcieGbps())
	r.truth.granted[d] += l.want * l.scale * seconds
	r.truth.unmasked[d] += math.Min(l.want, head) * seconds
	if l.want > idleGbps && l.want >= nearlyFull*l.capacity && l.capacity < (1-queriedLoss)*head {
		r.truth.full = true
	}
}

// onNarrowLink tells whether a card on the way has a PCIe link below its best.
func (c *connection) onNarrowLink() bool {
	return (c.src.RNIC != nil && c.src.RNIC.link.degraded) || (c.dst.RNIC != nil && c.dst.RNIC.link.degraded)
}

// observe takes down the states that are symptoms while they last.
func (r *RNIC) observe(now time.Duration) {
	t, h := &r.truth, r.Host
	if r.stalledHost && h.Stalled(now) {
		t.saw(s2, h.stalledUntil-stallTime, now)
	}
	if r.crashedHost && (h.crashing || h.Down(now)) {
		t.saw(s3, r.crashedAt, now)
	}
	if r.link.downUntil > 0 || r.link.degraded {
		t.saw(s7, r.link.lostAt, now)
	}
	if r.wedged() {
		t.saw(s8, r.wedgedAt, now)
	}
}

// settle adds what is a symptom only by its amount in a period, and takes away what was too little.
func (r *RNIC) settle(now time.Duration) {
	t := &r.truth
	if near := t.returns + t.crowdedReturns; float64(near) >= nearly*returnsPerPeriod {
		t.spans[nearS1] = t.spans[s1]
	}
	if t.returns < returnsPerPeriod {
		t.spans[s1] = span{}
	}
	if float64(t.liveSuspensions) >= nearly*liveSuspensionsPerPeriod {
		t.spans[nearS5] = t.spans[s5]
	}
	if t.liveSuspensions < liveSuspensionsPerPeriod {
		t.spans[s5] = span{}
	}
	r.settleDeletions(now)
	deep := t.deepDemand > deepShare*t.demanded && t.deepGranted < (1-deepLoss)*t.deepDemand
	near := t.full || t.deepDemand > nearly*deepShare*t.demanded && t.deepGranted < (1-nearly*deepLoss)*t.deepDemand
	for d := range t.granted {
		busy := t.unmasked[d] > idleGbps*truthPeriod.Seconds()
		deep = deep || busy && t.granted[d] < (1-queriedLoss)*t.unmasked[d]
		near = near || busy && t.granted[d] < (1-nearly*queriedLoss)*t.unmasked[d]
	}
	t.lasts(s6, &t.deep, deep, now)
	t.lasts(nearS6, &t.nearlyDeep, near, now)
}

// settleDeletions judges how long deletions took. Where the scan of late counters leaves the commands a part of the interface only, a deletion is
// slow as seen from the host although its search is not: marginal as well.
func (r *RNIC) settleDeletions(now time.Duration) {
	t := &r.truth
	one := r.deletionTime()
	reaches := func(one time.Duration, times, share float64) bool {
		deleting := time.Duration(t.deletions) * one
		return one.Seconds() >= times*r.Model.Costs.Delete.Seconds() && deleting.Seconds() >= share*deletingShare*truthPeriod.Seconds()
	}
	seen := one
	if r.scanBehind {
		seen = time.Duration(float64(one) / reservedForCommands)
	}
	t.lasts(s4, &t.slow, reaches(one, slowDeletion, 1), now)
	t.lasts(nearS4, &t.nearlySlow, reaches(seen, nearlySlow, nearly), now)
}

// lasts counts periods in a row, and takes down a symptom once there are enough of them.
func (e *evidence) lasts(symptom int, periods *int, here bool, now time.Duration) {
	if !here {
		*periods = 0
		return
	}
	if *periods++; *periods >= lastingPeriods {
		e.saw(symptom, now-time.Duration(*periods)*truthPeriod, now)
	}
}

// noteReturn takes down that a flow is offloaded again which had been deleted in spite of its traffic.
func (r *RNIC) noteReturn(e *Entry, now time.Duration) {
	if e.deletedLive > 0 && now-e.deletedLive <= returnsWithin {
		switch {
		case e.crowdedOut:
			r.truth.crowdedReturns++
		case e.evicted:
			r.truth.evictedReturns++
			fallthrough
		default:
			r.truth.returns++
		}
		r.truth.saw(s1, e.deletedLive, now)
	}
	e.deletedLive = 0
}

// judge closes a period of evidence and returns what began or ended with it.
func (r *RNIC) judge(now time.Duration) []Verdict {
	t := &r.truth
	r.settle(now)
	var changes []Verdict
	for i, s := range t.spans {
		switch {
		case s.seen && t.open[i] == nil:
			t.open[i] = r.verdict(i, s.from, now)
			changes = append(changes, *t.open[i])
			t.quiet[i], t.last[i] = 0, s.to
		case s.seen:
			t.quiet[i], t.last[i] = 0, s.to
		case t.open[i] != nil:
			if t.quiet[i]++; t.quiet[i] >= quietPeriods {
				end := t.last[i]
				t.open[i].To, t.open[i].Judged = &end, now
				changes = append(changes, *t.open[i])
				t.open[i] = nil
			}
		}
	}
	t.returns, t.evictedReturns, t.crowdedReturns, t.liveSuspensions, t.deletions = 0, 0, 0, 0, 0
	t.deepDemand, t.deepGranted, t.demanded, t.full = 0, 0, 0, false
	t.granted, t.unmasked = [2]float64{}, [2]float64{}
	t.spans = [judgements]span{}
	r.crashedHost = r.crashedHost && (r.Host.crashing || r.Host.Down(now))
	r.stalledHost = r.stalledHost && r.Host.Stalled(now)
	return changes
}

// verdict begins one.
func (r *RNIC) verdict(judgement int, from, now time.Duration) *Verdict {
	symptom, marginal := marginalOf[judgement]
	if !marginal {
		symptom = judgement
	}
	return &Verdict{Symptom: "S" + string(rune('1'+symptom)), Cause: r.causeOf(symptom), Marginal: marginal, RNIC: r, From: from, Judged: now}
}

// causeOf is the cause behind a symptom that begins: flows are offloaded again and again because the firmware deletes them or because its counters
// are late; and commands that time out because the card has stopped are C8's doing.
func (r *RNIC) causeOf(symptom int) string {
	switch {
	case symptom == s1 && 2*r.truth.evictedReturns > r.truth.returns:
		return "C1"
	case symptom == s2 && r.wedged():
		return causes[s8]
	}
	return causes[symptom]
}
