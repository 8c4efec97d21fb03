package truth

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine"
	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine/enginetest"
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

func build(t *testing.T, text string) (*engine.Engine, *Judge) {
	t.Helper()
	e := enginetest.New(t, text)
	return e, Watch(e)
}

// run moves the fleet and returns the symptoms that began.
func run(e *engine.Engine, judge *Judge, d time.Duration) map[string]bool {
	began := map[string]bool{}
	for range int(d / time.Second) {
		e.Step(time.Second)
		for _, v := range judge.Take() {
			if v.To == nil && !v.Marginal {
				began[v.Symptom+" "+v.RNIC.Host.Name+" "+v.RNIC.PCI] = true
			}
		}
	}
	return began
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

func TestLiveFlowsAreDeletedAndReturnWhenEntriesExceedTheCounterCache(t *testing.T) {
	e, judge := build(t, fmt.Sprintf(fleet, "flawed", 8000))
	began := run(e, judge, 90*time.Second)
	if !began["S1 host01 0000:17:00.0"] || len(began) != 1 {
		t.Fatalf("began: %v, want S1 on host01's first RNIC only", began)
	}
	before := e.Hosts()[0].Switch
	run(e, judge, 60*time.Second)
	after := e.Hosts()[0].Switch
	if deleted, inserted := after.Deleted-before.Deleted, after.Inserted-before.Inserted; deleted < 500 || inserted < 500 {
		t.Errorf("in a minute of a steady load %d deletions and %d insertions, want hundreds of both", deleted, inserted)
	}
	if after.Missed-before.Missed < 1000 {
		t.Error("re-offloading did not send packets to the slow path")
	}
}

func TestNoLiveFlowIsDeletedBelowTheCounterCache(t *testing.T) {
	e, judge := build(t, fmt.Sprintf(fleet, "flawed", 6800))
	began := run(e, judge, 90*time.Second)
	if len(began) != 0 || e.Hosts()[0].Switch.Deleted != 0 {
		t.Fatalf("began: %v, %d deletions; want none with 6,800 flows of long life", began, e.Hosts()[0].Switch.Deleted)
	}
}

func TestFixedFirmwareKeepsEveryFlowUnderTheLoadThatBreaksTheFlawedOne(t *testing.T) {
	e, judge := build(t, fmt.Sprintf(fleet, "fixed", 8000))
	began := run(e, judge, 120*time.Second)
	if len(began) != 0 || e.Hosts()[0].Switch.Deleted != 0 {
		t.Fatalf("began: %v, %d deletions; want none", began, e.Hosts()[0].Switch.Deleted)
	}
}

func TestTrafficOnLateMasksLosesBandwidthAndKeepsItsPlaceInTheChain(t *testing.T) {
	e, judge := build(t, fmt.Sprintf(tenants, "0s", 0.85, 140.0))
	if began := run(e, judge, 60*time.Second); !began["S6 host01 0000:17:00.0"] || len(began) != 1 {
		t.Fatalf("began: %v, want S6 on host01's first RNIC only", began)
	}
	r := e.Hosts()[0].RNICs[0]
	forwarding, _ := r.Forwarding(engine.Egress)
	if forwarding.QL < 50 {
		t.Errorf("mean egress lookups are %.1f, want above 50", forwarding.QL)
	}
	if granted := min(forwarding.AskedGbps, forwarding.BandwidthGbps); granted > 70 {
		t.Errorf("%.0f Gbit/s are granted, want well below the 158 of a short chain", granted)
	}
}

func TestManyMasksWithLittleTrafficOnThemHarmNobody(t *testing.T) {
	e, judge := build(t, fmt.Sprintf(tenants, "0s", 0.01, 4.0))
	if began := run(e, judge, 60*time.Second); len(began) != 0 {
		t.Fatalf("began: %v, want nothing", began)
	}
	if masks := len(e.Hosts()[0].RNICs[0].Places(engine.Egress)); masks < 90 {
		t.Fatalf("%d masks, want at least 90: this is no near miss", masks)
	}
}

func TestEntriesAreLostOnlyAboveAPartOfTheIndex(t *testing.T) {
	for flows, want := range map[int]bool{6000: false, 8300: true} {
		e, judge := build(t, fmt.Sprintf(fleet, "evicting", flows))
		causes := map[string]string{}
		for range 90 {
			e.Step(time.Second)
			for _, v := range judge.Take() {
				if !v.Marginal {
					causes[v.Symptom+" "+v.RNIC.Host.Name+" "+v.RNIC.PCI] = v.Cause
				}
			}
		}
		if cause := causes["S1 host01 0000:17:00.0"]; (cause == "C1") != want || len(causes) > 1 {
			t.Errorf("%d flows: S1 has the cause %q, and %d symptoms began", flows, cause, len(causes))
		}
	}
}

func TestWhatAnAdministratorDeletesIsNoSymptom(t *testing.T) {
	e, judge := build(t, fmt.Sprintf(fleet, "fixed", 400))
	run(e, judge, 30*time.Second)
	h := e.Hosts()[0]
	port := ""
	for vf, container := range h.RNICs[0].VFs {
		if container != nil {
			port = h.RNICs[0].Representor(vf)
		}
	}
	before, err := e.Filters(h, port)
	if err != nil || len(before) == 0 {
		t.Fatalf("%d filters at %s: %v", len(before), port, err)
	}
	tunnelled, err := e.Filters(h, engine.TunnelPort)
	if err != nil || len(tunnelled) == 0 {
		t.Fatalf("%d filters at the tunnel's port: %v", len(tunnelled), err)
	}
	for _, filter := range tunnelled {
		if err := e.DeleteFlow(h, filter.UFID, ""); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(e.DeleteFilters(h, port), e.SetOffload(h, port, false)); err != nil {
		t.Fatal(err)
	}
	if began := run(e, judge, 10*time.Second); len(began) != 0 {
		t.Errorf("%v began", began)
	}
}
