package engine

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/scenario"
)

func TestRecoveringAHealthReporterEndsTheStopOfTheCard(t *testing.T) {
	s, err := scenario.Load("../../../tests/scenarios/s8.yaml")
	if err != nil {
		t.Fatal(err)
	}
	e, err := New(s, OpenAdmission{})
	if err != nil {
		t.Fatal(err)
	}
	h := e.hosts[0]
	r := h.RNICs[0]
	if err := e.RecoverHealth(h, r.PCI, "fw_fatal"); err != nil || r.health.Recoveries != 0 {
		t.Fatalf("a healthy card: %v, %+v", err, r.health)
	}
	for !r.Health().Failed {
		if e.now > 3*time.Minute {
			t.Fatal("the card never stopped")
		}
		e.Step(time.Second)
	}
	if err := e.RecoverHealth(h, r.PCI, "fw"); err == nil {
		t.Error("a reporter that cannot recover was recovered")
	}
	if err := e.RecoverHealth(h, "0000:99:00.0", "fw_fatal"); !errors.Is(err, ErrNoDevice) {
		t.Errorf("a card that is not there: %v", err)
	}
	if err := e.RecoverHealth(h, r.PCI, "fw_fatal"); err != nil || r.wedged() || r.Health() != (Health{Errors: 1, Recoveries: 1}) {
		t.Fatalf("after the recovery: %v, stopped %v, %+v", err, r.wedged(), r.Health())
	}
	before := r.Counters.XmitPackets
	e.Step(2 * time.Second)
	if r.Counters.XmitPackets == before {
		t.Error("the card forwards nothing after its reset")
	}
}

func TestOffloadOfAPortStopsForNewFlowsAndItsFiltersStayUntilTheyAreDeleted(t *testing.T) {
	e := build(t, fmt.Sprintf(fleet, "fixed", 400), OpenAdmission{})
	run(e, 30*time.Second)
	h := e.hosts[0]
	r := h.RNICs[0]
	vf := r.entries[0].conn.src.VF
	for _, entry := range r.entries {
		if entry.dir == Egress {
			vf = entry.conn.src.VF
		}
	}
	port := r.Representor(vf)
	if err := e.SetOffload(h, port, false); err != nil || len(r.filters(vf)) == 0 {
		t.Fatalf("%d filters after the offload was switched off: %v", len(r.filters(vf)), err)
	}
	run(e, 5*time.Second)
	if on, err := e.Offload(h, port); err != nil || on || len(r.filters(vf)) == 0 {
		t.Fatalf("5 s later there are %d filters, offload %v, %v", len(r.filters(vf)), on, err)
	}
	before := len(r.filters(vf))
	if err := errors.Join(e.DeleteFilters(h, port), e.SetOffload(h, port, false)); err != nil {
		t.Fatal(err)
	}
	run(e, 10*time.Second)
	if left := len(r.filters(vf)); left != 0 || len(h.copies) < before/2 {
		t.Errorf("%d filters are left, %d of %d flows are in software", left, len(h.copies), before)
	}
	if err := e.SetOffload(h, port, true); err != nil {
		t.Fatal(err)
	}
	e.Purge(h)
	run(e, 10*time.Second)
	if back := len(r.filters(vf)); back < before/2 || len(h.copies) > 0 {
		t.Errorf("after a purge %d of %d filters are back, %d flows are in software", back, before, len(h.copies))
	}
	if err := e.DeleteFilters(h, "eth9"); !errors.Is(err, ErrNoDevice) {
		t.Errorf("a port that is not there: %v", err)
	}
}

func TestEveryFlowInTheHardwareHasAFilterAtThePortThatItsPacketsComeFrom(t *testing.T) {
	e := build(t, fmt.Sprintf(fleet, "fixed", 400), OpenAdmission{})
	run(e, 30*time.Second)
	h := e.hosts[0]
	var dump bytes.Buffer
	e.WriteOffloaded(&dump, h, Show{Verbose: true})
	e.WriteSoftware(&dump, h, Show{Verbose: true})
	offloaded, seen := strings.Count(dump.String(), "offloaded:yes"), map[int]bool{}
	for _, port := range h.Ports() {
		filters, err := e.Filters(h, port)
		if err != nil {
			t.Fatal(err)
		}
		for _, filter := range filters {
			if seen[filter.Handle] || !strings.Contains(dump.String(), "ufid:"+filter.UFID+",") {
				t.Fatalf("%s has %+v", port, filter)
			}
			seen[filter.Handle] = true
		}
	}
	if len(seen) != offloaded || offloaded < 100 {
		t.Errorf("%d filters, %d flows offloaded", len(seen), offloaded)
	}
	filters, _ := e.Filters(h, TunnelPort)
	if err := errors.Join(e.DeleteFilter(h, TunnelPort, filters[0].Handle)); err != nil {
		t.Fatal(err)
	}
	if err := e.DeleteFilter(h, TunnelPort, filters[0].Handle); !errors.Is(err, ErrNoFilter) {
		t.Errorf("deleted twice: %v", err)
	}
	if _, err := e.Filters(h, "eth9"); !errors.Is(err, ErrNoDevice) {
		t.Errorf("a port that is not there: %v", err)
	}
}

func TestAVFSendsNoMoreThanItsLimit(t *testing.T) {
	e := build(t, fmt.Sprintf(fleet, "fixed", 400), OpenAdmission{})
	run(e, 30*time.Second)
	h := e.hosts[0]
	r := h.RNICs[0]
	vf := 0
	for i := range r.VFs {
		if r.VFCounters[i].XmitBytes > r.VFCounters[vf].XmitBytes {
			vf = i
		}
	}
	rate := func() float64 {
		before := r.VFCounters[vf].XmitBytes
		run(e, 10*time.Second)
		return (r.VFCounters[vf].XmitBytes - before) * 8 / 10 / 1e9
	}
	free := rate()
	if err := e.LimitVF(h, r.Netdev, vf, free/4); err != nil {
		t.Fatal(err)
	}
	if limited := rate(); limited > 1.05*free/4 || limited < 0.8*free/4 {
		t.Errorf("the VF sent %.2f Gbit/s, and %.2f with a limit of %.2f", free, limited, free/4)
	}
	if err := e.LimitVF(h, r.Netdev, vf, 0); err != nil {
		t.Fatal(err)
	}
	if again := rate(); again < 0.8*free {
		t.Errorf("without the limit the VF sends %.2f Gbit/s, and %.2f before it", again, free)
	}
	if err := e.LimitVF(h, r.Netdev, 99, 1); err == nil {
		t.Error("a VF that is not there was limited")
	}
}
