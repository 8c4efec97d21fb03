package engine

import (
	"testing"
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/scenario"
)

// The card of the scenario s8 stops when its encapsulation buffer is full. Here half of the ports leave the hardware shortly before, as the agent
// does it: the feature of each representor, then each of its flows through Open vSwitch.
func TestPortsThatLeaveTheHardwareFreeTheirContextsAndTheCardDoesNotStop(t *testing.T) {
	t.Parallel()
	const nearlyFull = 7000
	fill := func(act bool) (r *RNIC, out func(vf int) bool) {
		s, err := scenario.Load("../../../tests/scenarios/s8.yaml")
		if err != nil {
			t.Fatal(err)
		}
		e, err := New(s, OpenAdmission{})
		if err != nil {
			t.Fatal(err)
		}
		r = e.hosts[0].RNICs[0]
		out = func(vf int) bool { return vf%2 == 0 }
		for acted := false; e.now < time.Minute; e.Step(500 * time.Millisecond) {
			if act && !acted && len(r.contexts) > nearlyFull {
				acted = true
				for vf := range r.VFs {
					if out(vf) {
						takeOut(t, e, e.hosts[0], r.Representor(vf))
					}
				}
			}
		}
		return r, out
	}
	if r, _ := fill(false); !r.wedged() {
		t.Fatalf("left alone the card has %d contexts and works", len(r.contexts))
	}
	r, out := fill(true)
	if r.wedged() || len(r.contexts) > nearlyFull || len(r.contexts) < nearlyFull/4 {
		t.Errorf("the card has stopped: %v; it has %d contexts", r.wedged(), len(r.contexts))
	}
	for _, entry := range r.entries {
		if entry.dir == Egress && out(entry.conn.src.VF) {
			t.Fatalf("a flow of VF %d is in the hardware", entry.conn.src.VF)
		}
	}
}

func takeOut(t *testing.T, e *Engine, h *Host, port string) {
	t.Helper()
	if err := e.SetOffload(h, port, false); err != nil {
		t.Fatal(err)
	}
	filters, err := e.Filters(h, port)
	if err != nil {
		t.Fatal(err)
	}
	for _, filter := range filters {
		if err := e.DeleteFlow(h, filter.UFID, ""); err != nil {
			t.Fatal(err)
		}
	}
}
