package truth

import (
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
