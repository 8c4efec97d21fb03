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

// run moves the fleet by steps of a second.
func run(e *Engine, d time.Duration) {
	for range int(d / time.Second) {
		e.Step(time.Second)
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

func TestQIsTheMeanOfTheQueriesOfThePacketsInFlight(t *testing.T) {
	// Two flows at position 0 and one at 2, with equal packets in flight: Q = (0 + 0 + 2) / 3.
	var l load
	for _, q := range []float64{0, 0, 2} {
		l.add(1, 1, q, 0, 1)
	}
	if ql, _ := l.means(); math.Abs(ql-2.0/3) > 1e-12 {
		t.Errorf("Q is %v, want 2/3", ql)
	}
}

func TestTheSameSeedGivesTheSameFleet(t *testing.T) {
	dump := func() []byte {
		e := build(t, fmt.Sprintf(fleet, "flawed", 400), OpenAdmission{})
		run(e, 40*time.Second)
		var out bytes.Buffer
		for _, h := range e.hosts {
			e.WriteOffloaded(&out, h, Show{Verbose: true})
			e.WriteSoftware(&out, h, Show{Verbose: true})
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
