package truth

import (
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine"
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
