package engine

import "time"

// What an expert with a view into the mechanism would say. It goes to the truth file only; nothing that the collectors
// can read depends on it.
const (
	truthPeriod = 5 * time.Second // evidence is judged over this time
	// liveDeletionsPerPeriod is when deletions of live flows count as S1, liveSuspensionsPerPeriod when connections that were taken
	// out of the hardware in spite of their traffic count as S5.
	liveDeletionsPerPeriod   = 10
	liveSuspensionsPerPeriod = 10
	// A deletion that takes slowDeletion times that of an empty table is S4, once so many are asked for in a period that others wait.
	slowDeletion       = 7
	deletionsPerPeriod = 250
	// deepLatency is how many times its latency at the head of the chains makes a flow deep in it, deepShare the share of the demand
	// that deep flows must have, and deepLoss the share of it that they must miss for S6.
	deepLatency, deepShare, deepLoss = 2.0, 0.2, 0.2
	quietPeriods                     = 9 // periods without evidence that end a symptom
)

type evidence struct {
	liveDeletions, liveSuspensions    int
	deletions                         int
	deepDemand, deepGranted, demanded float64
	quiet                             [symptoms]int
	open                              [symptoms]*Verdict
}

// Verdict is one line of the truth: a symptom of an RNIC over a time. To is nil while it lasts.
type Verdict struct {
	Symptom, Cause string
	RNIC           *RNIC
	From           time.Duration
	To             *time.Duration
	Judged         time.Duration // when this became known
}

const symptoms = 8

// The causes of the symptoms S1 to S8 in the simulator. The paper's C1, deletion of entries that are not aged, follows from C5 here.
var causes = [symptoms]string{"C5", "C2", "C3", "C4", "C5", "C6", "C7", "C8"}

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

// present says which symptoms the evidence of a period shows.
func (r *RNIC) present() [symptoms]bool {
	t := &r.truth
	return [symptoms]bool{
		t.liveDeletions >= liveDeletionsPerPeriod,
		r.stalledHost,
		r.crashedHost,
		t.deletions >= deletionsPerPeriod && r.deletionTime() >= slowDeletion*r.Model.Costs.Delete,
		t.liveSuspensions >= liveSuspensionsPerPeriod,
		t.deepDemand > deepShare*t.demanded && t.deepGranted < (1-deepLoss)*t.deepDemand,
		r.link.downUntil > 0 || r.link.degraded,
		r.wedged(),
	}
}

// judge closes a period of evidence and returns what began or ended with it.
func (r *RNIC) judge(now time.Duration) []Verdict {
	t := &r.truth
	present := r.present()
	t.liveDeletions, t.liveSuspensions, t.deletions, t.deepDemand, t.deepGranted, t.demanded = 0, 0, 0, 0, 0, 0
	r.crashedHost = false
	r.stalledHost = r.stalledHost && r.Host.Stalled(now)
	var changes []Verdict
	for i, here := range present {
		switch {
		case here && t.open[i] == nil:
			t.open[i] = &Verdict{Symptom: "S" + string(rune('1'+i)), Cause: r.causeOf(i), RNIC: r, From: now - truthPeriod, Judged: now}
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

// causeOf is the cause behind the i-th symptom: commands that time out because the card has stopped are C8's doing.
func (r *RNIC) causeOf(i int) string {
	if i == 1 && r.wedged() {
		return causes[7]
	}
	return causes[i]
}
