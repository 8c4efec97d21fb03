package engine

import "time"

// What an expert with a view into the mechanism would say. It goes to the truth file only; nothing that the collectors
// can read depends on it.
const (
	truthPeriod = 5 * time.Second // evidence is judged over this time
	// liveDeletionsPerPeriod is when deletions of live flows count as S1.
	liveDeletionsPerPeriod = 10
	// deepLatency is how many times its latency at the head of the chains makes a flow deep in it, deepShare the share of the demand
	// that deep flows must have, and deepLoss the share of it that they must miss for S6.
	deepLatency, deepShare, deepLoss = 2.0, 0.2, 0.2
	quietPeriods                     = 9 // periods without evidence that end a symptom
)

type evidence struct {
	liveDeletions                     int
	deepDemand, deepGranted, demanded float64
	quiet                             [2]int
	open                              [2]*Verdict
}

// Verdict is one line of the truth: a symptom of an RNIC over a time. To is nil while it lasts.
type Verdict struct {
	Symptom, Cause string
	RNIC           *RNIC
	From           time.Duration
	To             *time.Duration
	Judged         time.Duration // when this became known
}

var judged = [2]struct{ symptom, cause string }{{"S1", "C5"}, {"S6", "C6"}}

func (c *connection) noteDepth(latencyUs float64) {
	p := c.model()
	deep := latencyUs > deepLatency*p.LatencyUs(0, 0)
	ql, qr := c.positions()
	// The chain that holds the flow back is the one that adds more latency; its RNIC has the symptom.
	r := c.src.RNIC
	if r == nil || (c.dst.RNIC != nil && p.B*qr > p.A*ql) {
		r = c.dst.RNIC
	}
	r.truth.demanded += c.demandGbps
	if deep {
		r.truth.deepDemand += c.demandGbps
		r.truth.deepGranted += c.rateGbps
	}
}

// judge closes a period of evidence and returns what began or ended with it.
func (r *RNIC) judge(now time.Duration) []Verdict {
	t := &r.truth
	present := [2]bool{
		t.liveDeletions >= liveDeletionsPerPeriod,
		t.deepDemand > deepShare*t.demanded && t.deepGranted < (1-deepLoss)*t.deepDemand,
	}
	t.liveDeletions, t.deepDemand, t.deepGranted, t.demanded = 0, 0, 0, 0
	var changes []Verdict
	for i, here := range present {
		switch {
		case here && t.open[i] == nil:
			t.open[i] = &Verdict{Symptom: judged[i].symptom, Cause: judged[i].cause, RNIC: r, From: now - truthPeriod, Judged: now}
			changes = append(changes, *t.open[i])
			t.quiet[i] = 0
		case here:
			t.quiet[i] = 0
		case t.open[i] != nil:
			if t.quiet[i]++; t.quiet[i] >= quietPeriods {
				end := now - quietPeriods*truthPeriod
				t.open[i].To, t.open[i].Judged = &end, now
				changes = append(changes, *t.open[i])
				t.open[i] = nil
			}
		}
	}
	return changes
}
