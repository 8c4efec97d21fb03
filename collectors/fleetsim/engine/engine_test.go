package engine

import (
	"bytes"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/scenario"
)

const fleet = `
name: test
seed: 5
topology: {racks: 1, hosts: 2, rnics_per_host: 2, models: [CX-6, CX-7], vfs: 16, firmware: %s}
workload:
  - {kind: training, containers: 2, flows: 20, gbps: 5}
events:
  - {at: 5s, host: host01, rnic: "0000:17:00.0", job: {kind: training, containers: 8, flows: %d, gbps: 60, ramp: 10s}}
`

func build(t *testing.T, text string, admission Admission) *Engine {
	t.Helper()
	s, err := scenario.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	e, err := New(s, admission)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// run moves the fleet and returns the symptoms that began.
func run(e *Engine, d time.Duration) map[string]bool {
	began := map[string]bool{}
	for range int(d / time.Second) {
		for _, v := range e.Step(time.Second) {
			if v.To == nil && !v.Marginal {
				began[v.Symptom+" "+v.RNIC.Host.Name+" "+v.RNIC.PCI] = true
			}
		}
	}
	return began
}

func TestLiveFlowsAreDeletedAndReturnWhenEntriesExceedTheCounterCache(t *testing.T) {
	e := build(t, fmt.Sprintf(fleet, "flawed", 8000), OpenAdmission{})
	began := run(e, 90*time.Second)
	if !began["S1 host01 0000:17:00.0"] || len(began) != 1 {
		t.Fatalf("began: %v, want S1 on host01's first RNIC only", began)
	}
	before := e.hosts[0].Switch
	run(e, 60*time.Second)
	after := e.hosts[0].Switch
	if deleted, inserted := after.Deleted-before.Deleted, after.Inserted-before.Inserted; deleted < 500 || inserted < 500 {
		t.Errorf("in a minute of a steady load %d deletions and %d insertions, want hundreds of both", deleted, inserted)
	}
	if after.Missed-before.Missed < 1000 {
		t.Error("re-offloading did not send packets to the slow path")
	}
}

func TestNoLiveFlowIsDeletedBelowTheCounterCache(t *testing.T) {
	e := build(t, fmt.Sprintf(fleet, "flawed", 6800), OpenAdmission{})
	began := run(e, 90*time.Second)
	if len(began) != 0 || e.hosts[0].Switch.Deleted != 0 {
		t.Fatalf("began: %v, %d deletions; want none with 6,800 flows of long life", began, e.hosts[0].Switch.Deleted)
	}
}

func TestFixedFirmwareKeepsEveryFlowUnderTheLoadThatBreaksTheFlawedOne(t *testing.T) {
	e := build(t, fmt.Sprintf(fleet, "fixed", 8000), OpenAdmission{})
	began := run(e, 120*time.Second)
	if len(began) != 0 || e.hosts[0].Switch.Deleted != 0 {
		t.Fatalf("began: %v, %d deletions; want none", began, e.hosts[0].Switch.Deleted)
	}
}

func TestRaisingMaxIdleAboveTheLagEndsTheReoffloadingWithinTensOfSeconds(t *testing.T) {
	e := build(t, fmt.Sprintf(fleet, "flawed", 8000), OpenAdmission{})
	run(e, 90*time.Second)
	e.ApplyOtherConfig(e.hosts[0], map[string]string{"max-idle": "60000"})
	run(e, 30*time.Second)
	before := e.hosts[0].Switch.Deleted
	run(e, 60*time.Second)
	if deleted := e.hosts[0].Switch.Deleted - before; deleted != 0 {
		t.Errorf("%d deletions in the minute after the cure, want none", deleted)
	}
	if n := len(e.hosts[0].RNICs[0].entries); n < 8000 {
		t.Errorf("%d entries after the cure, want all 8,000 and the base load", n)
	}
}

func TestAMaxIdleThatIsNoNumberCountsAsAbsent(t *testing.T) {
	e := build(t, fmt.Sprintf(fleet, "flawed", 100), OpenAdmission{})
	for value, want := range map[string]time.Duration{"60000": time.Minute, "soon": defaultMaxIdle, "": defaultMaxIdle, "1": 500 * time.Millisecond} {
		e.ApplyOtherConfig(e.hosts[0], map[string]string{"max-idle": value})
		if got := e.hosts[0].Switch.MaxIdle; got != want {
			t.Errorf("max-idle %q: got %s, want %s", value, got, want)
		}
	}
}

const tenants = `
name: test
seed: 6
topology: {racks: 1, hosts: 2, rnics_per_host: 2, models: [CX-6, CX-7]}
workload:
  - {kind: training, containers: 2, flows: 20, gbps: 5}
events:
  - {at: 5s, for: %s, host: host01, rnic: "0000:17:00.0", job: {kind: multi-tenant, containers: 8, flows: 360, masks: 90, late_share: %g, gbps: %g, ramp: 5s}}
`

func TestTrafficOnLateMasksLosesBandwidthAndKeepsItsPlaceInTheChain(t *testing.T) {
	e := build(t, fmt.Sprintf(tenants, "0s", 0.85, 140.0), OpenAdmission{})
	if began := run(e, 60*time.Second); !began["S6 host01 0000:17:00.0"] || len(began) != 1 {
		t.Fatalf("began: %v, want S6 on host01's first RNIC only", began)
	}
	r := e.hosts[0].RNICs[0]
	ql, _ := r.out.means()
	if ql < 50 {
		t.Errorf("mean egress queries are %.1f, want above 50", ql)
	}
	if granted := r.out.want * r.out.scale; granted > 70 {
		t.Errorf("%.0f Gbit/s are granted, want well below the 158 of a short chain", granted)
	}
}

func TestManyMasksWithLittleTrafficOnThemHarmNobody(t *testing.T) {
	e := build(t, fmt.Sprintf(tenants, "0s", 0.01, 4.0), OpenAdmission{})
	if began := run(e, 60*time.Second); len(began) != 0 {
		t.Fatalf("began: %v, want nothing", began)
	}
	if masks := len(e.hosts[0].RNICs[0].chains[Egress].groups); masks < 90 {
		t.Fatalf("%d masks, want at least 90: this is no near miss", masks)
	}
}

func TestQueriesOfAFlowEqualThePositionOfItsMask(t *testing.T) {
	c := newChain()
	for _, mask := range []int{7, 3, 7, 9} {
		c.join(mask)
	}
	for mask, want := range map[int]int{7: 0, 3: 1, 9: 2} {
		if got := c.byMask[mask].position; got != want {
			t.Errorf("mask %d is at %d, want %d", mask, got, want)
		}
	}
	// Two flows at position 0 and one at 2, with equal packets in flight: Q = (0 + 0 + 2) / 3.
	var l load
	for _, q := range []float64{0, 0, 2} {
		l.add(1, 1, q, 0, 1)
	}
	if ql, _ := l.means(); math.Abs(ql-2.0/3) > 1e-12 {
		t.Errorf("Q is %v, want 2/3", ql)
	}
}

func TestAnEmptyMaskKeepsItsPlaceForTenMinutesAndThenFreesIt(t *testing.T) {
	c := newChain()
	first := c.join(1)
	second := c.join(2)
	c.leave(first, 0)
	c.expire(6 * time.Minute)
	if second.position != 1 {
		t.Errorf("after 6 minutes the second mask is at %d, want 1: the paper saw no recovery", second.position)
	}
	c.expire(10 * time.Minute)
	if second.position != 0 {
		t.Errorf("after 10 minutes the second mask is at %d, want 0", second.position)
	}
}

func TestTheSameSeedGivesTheSameFleet(t *testing.T) {
	dump := func() []byte {
		e := build(t, fmt.Sprintf(fleet, "flawed", 400), OpenAdmission{})
		run(e, 40*time.Second)
		var out bytes.Buffer
		for _, h := range e.hosts {
			e.WriteFlows(&out, h, Show{Verbose: true})
		}
		return out.Bytes()
	}
	first := dump()
	if len(first) == 0 || !bytes.Equal(first, dump()) {
		t.Error("two runs of one scenario differ, or have no flows")
	}
}

type refusing struct{ pci string }

func (r refusing) Add(c *Container) error {
	if c.RNIC.PCI == r.pci {
		return ErrTryLater
	}
	return nil
}

func (refusing) Del(*Container) error { return nil }

func TestARefusedContainerIsPlacedOnAnotherRNICOfItsHost(t *testing.T) {
	e := build(t, fmt.Sprintf(fleet, "flawed", 100), refusing{"0000:17:00.0"})
	run(e, 20*time.Second)
	for _, h := range e.hosts {
		for _, c := range h.RNICs[0].VFs {
			if c != nil {
				t.Fatalf("%s's refused RNIC holds a container", h.Name)
			}
		}
		if len(h.RNICs[1].entries) == 0 {
			t.Errorf("%s's other RNIC has no flows", h.Name)
		}
	}
}

func TestBothEndsOfAConnectionCountTheSamePackets(t *testing.T) {
	e := build(t, fmt.Sprintf(fleet, "flawed", 400), OpenAdmission{})
	run(e, 60*time.Second)
	var sent, received float64
	for _, r := range e.rnics {
		sent, received = sent+r.Counters.XmitPackets, received+r.Counters.RcvPackets
	}
	if sent == 0 || sent != received {
		t.Errorf("%.0f packets were sent and %.0f received", sent, received)
	}
}

func TestTheShareOfMissesOfACyclicScanSolvesItsEquation(t *testing.T) {
	if x := missRatio(6400, 6400); x != 0 {
		t.Errorf("a cache that holds everything misses %v", x)
	}
	for _, n := range []int{6500, 7200, 9000, 30000} {
		x := missRatio(n, 6400)
		if residue := 1 - x - math.Exp(-x*float64(n)/6400); x <= 0 || math.Abs(residue) > 1e-6 {
			t.Errorf("%d entries: x = %v leaves %v", n, x, residue)
		}
	}
}
