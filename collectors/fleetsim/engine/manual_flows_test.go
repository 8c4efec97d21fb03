package engine

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/scenario"
)

const chained = `
name: test
seed: 5
topology: {hosts: 2, rnics_per_host: 1, models: [CX-6], firmware: fixed}
workload:
  - {kind: multi-tenant, containers: 4, flows: 400, masks: 60, gbps: 300}
`

// masked builds a fleet whose chains are long.
func masked(t *testing.T) *Engine {
	t.Helper()
	s, err := scenario.Parse([]byte(chained))
	if err != nil {
		t.Fatal(err)
	}
	e, err := New(s, OpenAdmission{})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

var line = regexp.MustCompile(`ufid:([0-9a-f-]{36}), (.*), packets:.*, actions:(.*)\n`)
var prefix = regexp.MustCompile(`(src|dst)=(\d+\.\d+\.\d+\.\d+)/[0-9.]+`)

// flow of a dump.
type dumped struct{ ufid, match, actions string }

func dumpOf(e *Engine, h *Host) []dumped {
	var out bytes.Buffer
	e.WriteOffloaded(&out, h, Show{Verbose: true, Numbers: true})
	var flows []dumped
	for _, found := range line.FindAllStringSubmatch(out.String(), -1) {
		flows = append(flows, dumped{found[1], found[2], found[3]})
	}
	return flows
}

// exactOf adds the header that a connection's packets have in the bits that the flow leaves open.
func exactOf(e *Engine, r *RNIC, f dumped) string {
	key, _ := r.Host.readKey(f.match)
	for _, d := range []Direction{Egress, Ingress} {
		for _, own := range e.sides(r, d) {
			if key.Matches(own.packet()) {
				return prefix.ReplaceAllStringFunc(f.match, func(one string) string {
					if strings.HasPrefix(one, "src=") {
						return "src=" + own.conn.src.IP.String()
					}
					return "dst=" + own.conn.dst.IP.String()
				})
			}
		}
	}
	return f.match
}

func TestExactEntriesAheadOfTheOthersMakeTheChainShortAndTheCardFast(t *testing.T) {
	e := masked(t)
	e.Step(time.Minute)
	before, _ := e.hosts[0].RNICs[0].Forwarding(Egress)
	missed := map[*Host]float64{}
	for _, h := range e.hosts {
		missed[h] = h.Switch.Missed
		flows := dumpOf(e, h)
		for _, f := range flows {
			if match := exactOf(e, h.RNICs[0], f); match != f.match {
				if err := e.AddFlow(h, "", match, f.actions); err != nil {
					t.Fatal(err)
				}
			}
		}
		for _, f := range flows { // what stood ahead goes to the end
			if err := e.DeleteFlow(h, f.ufid, ""); err != nil {
				t.Fatal(err)
			}
		}
		for _, f := range flows {
			if err := e.AddFlow(h, f.ufid, f.match, f.actions); err != nil {
				t.Fatal(err)
			}
		}
	}
	e.Step(5 * time.Second)
	after, _ := e.hosts[0].RNICs[0].Forwarding(Egress)
	if before.QL < 5 || after.QL > 1 || after.QR > 1 || after.BandwidthGbps < 1.3*before.BandwidthGbps || after.LatencyUs > 0.8*before.LatencyUs {
		t.Errorf("before %+v, after %+v", before, after)
	}
	e.Step(time.Minute)
	for _, h := range e.hosts {
		for _, f := range dumpOf(e, h) {
			if prefix.MatchString(f.match) {
				t.Errorf("a flow without packets is still there: %v", f)
			}
		}
		if more := h.Switch.Missed - missed[h]; more > 0 {
			t.Errorf("%v packets missed: the exact entries did not survive", more)
		}
	}
}

func TestAMaskWhoseLastFlowIsDeletedByHandComesBackAtTheEnd(t *testing.T) {
	e := masked(t)
	e.Step(30 * time.Second)
	r := e.hosts[0].RNICs[0]
	first := r.chains[Egress].Groups()[0].Mask
	last := r.chains[Egress].Groups()[len(r.chains[Egress].Groups())-1].Mask
	var moved []dumped
	for _, f := range dumpOf(e, r.Host) {
		if own := r.Host.byUFID[f.ufid]; own.dir == Egress && own.mask == first {
			moved = append(moved, f)
		}
	}
	for _, f := range moved {
		if err := e.DeleteFlow(r.Host, f.ufid, ""); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range moved {
		if err := e.AddFlow(r.Host, f.ufid, f.match, f.actions); err != nil {
			t.Fatal(err)
		}
	}
	groups := r.chains[Egress].Groups()
	if groups[len(groups)-1].Mask != first || groups[len(groups)-2].Mask != last {
		t.Errorf("the mask that was moved is not behind the others")
	}
	for at, g := range groups {
		if g.Position != at {
			t.Fatalf("mask %d stands at %d and says %d", g.Mask, at, g.Position)
		}
	}
}

func TestFlowsThatAreOutOfTheCardPassThroughSoftwareMeanwhile(t *testing.T) {
	e := masked(t)
	e.Step(30 * time.Second)
	h := e.hosts[0]
	missed := h.Switch.Missed
	for _, f := range dumpOf(e, h) {
		if err := e.DeleteFlow(h, f.ufid, ""); err != nil {
			t.Fatal(err)
		}
	}
	e.Step(500 * time.Millisecond)
	if h.Switch.Missed == missed {
		t.Error("no packet missed though the card had no flows")
	}
	e.Step(10 * time.Second)
	if back := h.OffloadedFlows(); back < 300 {
		t.Errorf("Open vSwitch has offloaded %d flows again", back)
	}
}

func TestARoundOfRevalidationPutsWrongActionsRightAndDeletesWhatIsTooWide(t *testing.T) {
	e := masked(t)
	e.Step(30 * time.Second)
	h := e.hosts[0]
	var f dumped
	for _, one := range dumpOf(e, h) {
		if prefix.MatchString(one.match) && !strings.HasPrefix(one.actions, "set") {
			f = one
		}
	}
	exact := exactOf(e, h.RNICs[0], f)
	wide := regexp.MustCompile(`udp\(.*\)`).ReplaceAllString(f.match, "udp(src=0/0,dst=4791)")
	if err := e.AddFlow(h, "", exact, "4"); err != nil {
		t.Fatal(err)
	}
	if err := e.AddFlow(h, "", wide, f.actions); err != nil {
		t.Fatal(err)
	}
	e.Step(3 * time.Second)
	found := false
	for _, one := range dumpOf(e, h) {
		if one.match == exact {
			found = true
			if one.actions != f.actions {
				t.Errorf("the actions are %s, want %s", one.actions, f.actions)
			}
		}
		if strings.Contains(one.match, "udp(src=0/0,dst=4791)") {
			t.Errorf("a flow that is wider than Open vSwitch's own is still there: %+v", one)
		}
	}
	if !found {
		t.Error("the exact flow has gone")
	}
}

func TestAResetOfTheCardForgetsWhatWasAdded(t *testing.T) {
	e := masked(t)
	e.Step(30 * time.Second)
	h := e.hosts[0]
	r := h.RNICs[0]
	for _, f := range dumpOf(e, h) {
		if match := exactOf(e, r, f); match != f.match {
			if err := e.AddFlow(h, "", match, f.actions); err != nil {
				t.Fatal(err)
			}
		}
	}
	r.recover(e.now)
	for _, masks := range r.manual {
		if masks != nil && len(masks.flows) > 0 {
			t.Errorf("%d flows are left", len(masks.flows))
		}
	}
	e.Step(10 * time.Second)
	for _, c := range e.connections {
		if c.egress != nil && c.egress.rnic == r && len(c.egress.covered) > 0 {
			t.Fatal("a connection still knows a flow that has gone")
		}
	}
}

func TestADumpWithNumbersHasTheFlowsInTheOrderOfTheirMasks(t *testing.T) {
	e := masked(t)
	e.Step(30 * time.Second)
	h := e.hosts[0]
	at := [2]int{-1, -1}
	for _, f := range dumpOf(e, h) {
		own := h.byUFID[f.ufid]
		if own.group.Position < at[own.dir] {
			t.Fatalf("a flow of mask %d stands behind one of mask %d", own.group.Position, at[own.dir])
		}
		at[own.dir] = own.group.Position
	}
	if at[Egress] < 20 || at[Ingress] < 20 {
		t.Errorf("the last masks are %v", at)
	}
}
