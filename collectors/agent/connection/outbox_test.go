package connection

import (
	"fmt"
	"testing"
	"time"

	"github.com/wallwatch/wallwatch/collectors/agent/agenttest"
	"github.com/wallwatch/wallwatch/collectors/agent/journal"
)

func newTestOutbox() (*Outbox, *time.Time) {
	now := agenttest.Noon
	o := NewOutbox(func() time.Time { return now }, nil)
	o.Reconnected()
	return o, &now
}

func result(id string) journal.Result { return journal.Result{CommandID: id, State: journal.Done} }

func sent(o *Outbox) []string {
	var ids []string
	for {
		next, _, due := o.Next()
		if !due {
			return ids
		}
		ids = append(ids, next.CommandID)
	}
}

func TestAResultIsKeptUntilItIsAcknowledged(t *testing.T) {
	o, now := newTestOutbox()
	o.Put(result("c1"), false)
	if ids := sent(o); fmt.Sprint(ids) != "[c1]" {
		t.Fatalf("sent %v", ids)
	}
	if ids := sent(o); ids != nil {
		t.Errorf("sent again at once: %v", ids)
	}
	*now = now.Add(firstRepeat)
	if ids := sent(o); fmt.Sprint(ids) != "[c1]" {
		t.Errorf("not repeated after %s: %v", firstRepeat, ids)
	}
	o.Reconnected()
	if ids := sent(o); fmt.Sprint(ids) != "[c1]" {
		t.Errorf("not sent again after a reconnection: %v", ids)
	}
	if !o.Acknowledge("c1") || o.Len() != 0 {
		t.Error("the acknowledgement did not remove it")
	}
	if o.Acknowledge("c1") {
		t.Error("a second acknowledgement counts")
	}
}

func TestAnAcknowledgementOfWhatWasNeverSentIsIgnored(t *testing.T) {
	o, _ := newTestOutbox()
	o.Put(result("c1"), false)
	if o.Acknowledge("c1") || o.Len() != 1 {
		t.Error("an unsent result was dropped")
	}
}

func TestResultsAreSentInOrderAndARepetitionReplacesTheFormer(t *testing.T) {
	o, _ := newTestOutbox()
	o.Put(result("c1"), false)
	o.Put(result("c2"), false)
	repeated := result("c1")
	repeated.Repeated = true
	o.Put(repeated, false)
	next, _, _ := o.Next()
	if next.CommandID != "c1" || !next.Repeated || o.Len() != 2 {
		t.Errorf("%+v, %d waiting", next, o.Len())
	}
}

func TestARejectionUnderTheIDOfARealCommandDoesNotTakeItsAcknowledgement(t *testing.T) {
	o, _ := newTestOutbox()
	o.Put(result("c1"), false)
	o.Put(result("c1"), true)
	if ids := sent(o); len(ids) != 2 {
		t.Fatalf("sent %v", ids)
	}
	if o.Acknowledge("c1") {
		t.Error("the first acknowledgement was taken for the real result")
	}
	if !o.Acknowledge("c1") || o.Len() != 0 {
		t.Error("the second acknowledgement did not remove the real result")
	}
}

func TestForgedMessagesCannotFillTheMemory(t *testing.T) {
	o, _ := newTestOutbox()
	o.Put(result("real"), false)
	for i := range 10 * maxRejections {
		o.Put(result(fmt.Sprint("forged ", i)), true)
	}
	if o.Len() != maxRejections+1 {
		t.Errorf("%d are kept", o.Len())
	}
	if ids := sent(o); ids[0] != "real" {
		t.Errorf("the real result was pushed out: %v", ids[0])
	}
}

func TestAResultWithoutAnIDIsSentOnce(t *testing.T) {
	o, _ := newTestOutbox()
	o.Put(result(""), true)
	if len(sent(o)) != 1 || o.Len() != 0 {
		t.Error("it is kept although nothing can acknowledge it")
	}
}

func TestAnUnacknowledgedResultIsGivenUpAfterADay(t *testing.T) {
	o, now := newTestOutbox()
	o.Put(result("c1"), false)
	*now = now.Add(MaxResultAge)
	if ids := sent(o); ids != nil || o.Len() != 0 {
		t.Errorf("still sent: %v", ids)
	}
}

func TestNothingIsSentBeforeTheFirstConnection(t *testing.T) {
	o := NewOutbox(func() time.Time { return agenttest.Noon }, []journal.Result{result("c1")})
	if ids := sent(o); ids != nil {
		t.Errorf("sent %v", ids)
	}
	o.Reconnected()
	if ids := sent(o); len(ids) != 1 {
		t.Errorf("after the connection: %v", ids)
	}
}
