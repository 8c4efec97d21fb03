package truth

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine"
	"github.com/wallwatch/wallwatch/collectors/fleetsim/scenario"
)

// fleetOf builds the fleet of a scenario of the repository.
func fleetOf(t *testing.T, name string) (*engine.Engine, *Judge) {
	t.Helper()
	s, err := scenario.Load("../../../tests/scenarios/" + name + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.New(s, engine.OpenAdmission{})
	if err != nil {
		t.Fatal(err)
	}
	return e, Watch(e)
}

// broken moves the fleet and returns its broken seconds that are not marginal.
func broken(e *engine.Engine, judge *Judge, d time.Duration) (found []Breakage) {
	for range int(d / time.Second) {
		e.Step(time.Second)
		for _, b := range judge.TakeBreakages() {
			if !b.Marginal {
				found = append(found, b)
			}
		}
	}
	return found
}

// brokenAs checks that these are all seconds of a time, with one mechanism, these victims and these aggressors.
func brokenAs(t *testing.T, found []Breakage, from, to time.Duration, mechanism Mechanism, victims, aggressors []int) {
	t.Helper()
	seen := map[time.Duration]bool{}
	for _, b := range found {
		seen[b.From] = true
		what := fmt.Sprintf("second %s on %s %s", b.From, b.RNIC.Host.Name, b.RNIC.PCI)
		if b.From < from || b.From >= to {
			t.Errorf("%s is broken: victims %v by %v (%s)", what, b.Victims, b.Aggressors, b.Mechanism)
		}
		if b.Mechanism != mechanism || !slices.Equal(b.Victims, victims) || !slices.Equal(b.Aggressors, aggressors) {
			t.Errorf("%s: victims %v by %v (%s), want %v by %v (%s)", what, b.Victims, b.Aggressors, b.Mechanism, victims, aggressors, mechanism)
		}
	}
	for at := from; at < to; at += time.Second {
		if !seen[at] {
			t.Errorf("second %s is not broken", at)
		}
	}
}

func TestEachScenarioOfTenantsBreaksTheSecondsThatItsLoadsOverload(t *testing.T) {
	for name, want := range map[string]struct {
		from, to            time.Duration
		mechanism           Mechanism
		victims, aggressors []int
	}{
		"vf-packet-storm":    {30 * time.Second, 90 * time.Second, PacketRate, []int{0, 1}, []int{2}},
		"vf-bandwidth-burst": {30 * time.Second, 90 * time.Second, Bandwidth, []int{0, 1}, []int{2}},
		"vf-egress-blocking": {30 * time.Second, 60 * time.Second, EgressFull, []int{0, 1}, []int{2}},
		"vf-pcie":            {30 * time.Second, 90 * time.Second, PCIe, []int{0, 1}, []int{2}},
		"vf-cpu":             {30 * time.Second, 90 * time.Second, CPU, []int{0, 1}, []int{3}},
		"vf-near-misses":     {},
		"vf-heavy-by-right":  {30 * time.Second, 90 * time.Second, PacketRate, []int{0, 1, 2}, []int{3}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, judge := fleetOf(t, name)
			brokenAs(t, broken(e, judge, 105*time.Second), want.from, want.to, want.mechanism, want.victims, want.aggressors)
		})
	}
}

func TestTheStormOfTheDemoEndsWhenItsVFIsLimited(t *testing.T) {
	t.Parallel()
	e, judge := fleetOf(t, "isolation")
	brokenAs(t, broken(e, judge, 70*time.Second), 45*time.Second, 69*time.Second, PacketRate, []int{0, 1, 2}, []int{3})
	h := e.Hosts()[0]
	if err := e.LimitVF(h, h.RNICs[0].Netdev, 3, 15); err != nil {
		t.Fatal(err)
	}
	last := broken(e, judge, 40*time.Second)
	for _, b := range last {
		if b.From > 70*time.Second {
			t.Errorf("second %s is still broken: %v by %v", b.From, b.Victims, b.Aggressors)
		}
	}
	before := h.RNICs[0].VFCounters[3]
	e.Step(time.Second)
	after := h.RNICs[0].VFCounters[3]
	if gbps := (after.XmitBytes - before.XmitBytes) * 8 / 1e9; gbps < 14.5 || gbps > 15.5 {
		t.Errorf("a VF limited to 15 Gbit/s sends %.1f", gbps)
	}
	if asked, answers := after.XmitPackets-before.XmitPackets, after.RcvPackets-before.RcvPackets; answers > 1.02*asked {
		t.Errorf("%.0f answers to %.0f requests", answers, asked)
	}
	for _, b := range broken(e, judge, 40*time.Second) {
		if b.RNIC.Host.Name != "host02" || b.Mechanism != Bandwidth || !slices.Equal(b.Aggressors, []int{2}) || !slices.Equal(b.Victims, []int{0, 1}) {
			t.Errorf("second %s of %s: %v by %v (%s)", b.From, b.RNIC.Host.Name, b.Victims, b.Aggressors, b.Mechanism)
		}
	}
}
