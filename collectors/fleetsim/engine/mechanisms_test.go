package engine

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

const competing = `
name: test
seed: 8
topology: {hosts: 2, rnics_per_host: 1, models: [CX-6], externals: 20, firmware: fixed}
workload:
  - {kind: training, containers: 2, flows: 20, gbps: 150}
  - {kind: training, containers: 2, flows: 20, gbps: 150, queue_pairs: %g}
`

func TestATenantWithMoreQueuePairsTakesBandwidthFromTheOthers(t *testing.T) {
	share := func(density float64) float64 {
		e := build(t, fmt.Sprintf(competing, density), OpenAdmission{})
		run(e, 30*time.Second)
		rates := [2]float64{}
		for _, c := range e.connections {
			if c.src.RNIC == e.rnics[0] && c.offloaded() {
				for i, j := range e.jobs[:2] {
					for _, one := range j.containers {
						if one == c.src {
							rates[i] += c.rateGbps
						}
					}
				}
			}
		}
		return rates[1] / (rates[0] + rates[1])
	}
	even, greedy := share(1), share(4)
	if even < 0.35 || even > 0.65 || greedy < even+0.15 {
		t.Errorf("the second tenant has %.2f of the bandwidth with equal queue pairs and %.2f with four times as many", even, greedy)
	}
}

func TestAHashTableDoublesUntilTheMemoryHasNoPlaceForTheNewOne(t *testing.T) {
	e := build(t, fmt.Sprintf(fleet, "fixed", 100), OpenAdmission{})
	r := e.rnics[0]
	r.Model.Costs.TableSlots = 512
	entries := 0
	for ; entries < 1000; entries++ {
		one := &Entry{rnic: r, dir: Egress, mask: 7}
		if !r.hasRoomFor(one) {
			break
		}
		r.chains[Egress].Join(7)
	}
	// 64, 128, 256 slots fit alongside their successors of 128, 256; 512 do not fit alongside 256, which hold 192 entries.
	if entries != 192 {
		t.Errorf("%d entries fitted, want 192", entries)
	}
	if other := (&Entry{rnic: r, dir: Ingress, mask: 1}); !r.hasRoomFor(other) {
		t.Error("a new mask has no place although 256 slots are free")
	}
}

func TestAnEncapsulationContextIsSharedAndTheFirstOneTooManyStopsTheCard(t *testing.T) {
	e := build(t, fmt.Sprintf(fleet, "fixed", 100), OpenAdmission{})
	r, to := e.rnics[0], e.rnics[2]
	r.Model.Costs.EncapBuffer = 2
	entry := func(vni int) *Entry {
		return &Entry{rnic: r, dir: Egress, conn: &connection{vni: vni, dst: &Container{RNIC: to}}}
	}
	for _, vni := range []int{1, 1, 2, 2} {
		if !r.takeContext(entry(vni), time.Second) {
			t.Fatalf("network %d has no place", vni)
		}
	}
	r.releaseContext(entry(2))
	if r.takeContext(entry(3), time.Second) || !r.wedged() {
		t.Fatal("a third context found a place while the second one is still used")
	}
	r.reset()
	if r.wedged() || !r.takeContext(entry(3), time.Second) {
		t.Error("a reset does not empty the buffer")
	}
}

func TestADeletionSearchesTheTable(t *testing.T) {
	r := build(t, fmt.Sprintf(fleet, "fixed", 100), OpenAdmission{}).rnics[0]
	empty := r.deletionTime()
	r.entries = make([]*Entry, 12_300)
	if ratio := float64(r.deletionTime()) / float64(empty); ratio < 8.5 || ratio > 9.5 {
		t.Errorf("a deletion takes %.1f times as long in a large table, want 9 times", ratio)
	}
}

func TestTwoReleasesOfVFsLoseTheLinkOnlyIfTheyMeet(t *testing.T) {
	e := build(t, fmt.Sprintf(fleet, "fixed", 100), OpenAdmission{})
	r := e.rnics[0]
	for range 50 {
		r.unbind(e.now, 0, 300)
		e.now += 10 * time.Second
	}
	if r.link.fatal != 0 {
		t.Fatal("releases one after another lost the link")
	}
	for range 50 {
		r.unbind(e.now, 0, 300)
	}
	if p := r.PCIe(); p.Speed != "Unknown" || p.Width != 0 || p.Fatal != 1 {
		t.Fatalf("after fifty releases at once the link is %+v", p)
	}
	r.retrain(e.now + retrainingTime)
	if p := r.PCIe(); p.Speed != "8.0 GT/s PCIe" || p.Width != 8 {
		t.Errorf("the link came back as %+v", p)
	}
	if got := r.pcieGbps(); math.Abs(got-63.0) > 0.1 {
		t.Errorf("the link carries %.2f Gbit/s, want 63", got)
	}
}

// paced is an admission whose releases wait for their turn.
type paced struct{ waiting []*Container }

func (p *paced) Add(*Container) error { return nil }
func (p *paced) Del(one *Container) error {
	p.waiting = append(p.waiting, one)
	return ErrWaits
}

func TestReleasesThatWaitForTheirTurnDoNotMeet(t *testing.T) {
	const many = "name: releases\nseed: 7\ntopology: {hosts: 2, rnics_per_host: 1, vfs: 16, models: [CX-6], firmware: fixed}\nworkload:\n" +
		"  - {kind: training, containers: 16, flows: 3200, gbps: 10}\n"
	for name, apart := range map[string]time.Duration{"at once": 0, "one after another": time.Second} {
		admission := &paced{}
		e := build(t, many, admission)
		run(e, 10*time.Second)
		r := e.rnics[0]
		for _, c := range slices.Clone(e.running) {
			if c.RNIC == r {
				e.stopContainer(c)
			}
		}
		if len(admission.waiting) != 16 || len(r.releases) != 0 {
			t.Fatalf("%d releases wait, %d have started", len(admission.waiting), len(r.releases))
		}
		for _, c := range admission.waiting {
			e.Released(c)
			e.now += apart
		}
		if lost := r.link.fatal > 0; lost != (apart == 0) {
			t.Errorf("%s: the link was lost: %v", name, lost)
		}
	}
}

type counting struct{ added, deleted map[string]int }

func (c counting) Add(one *Container) error { c.added[one.ID]++; return nil }
func (c counting) Del(one *Container) error { c.deleted[one.ID]++; return nil }

func TestARebootLosesContainersThatTheRuntimeCleansUpAfterwards(t *testing.T) {
	calls := counting{map[string]int{}, map[string]int{}}
	e := build(t, strings.Replace(fmt.Sprintf(fleet, "fixed", 100), "events:", "events:\n  - {at: 20s, host: host01, operator: reboot}", 1), calls)
	run(e, 21*time.Second)
	h := e.hosts[0]
	lost := len(h.lost)
	if !h.Down(e.now) || lost == 0 || h.Flows() != 0 || len(calls.deleted) != 0 {
		t.Fatalf("down %v, %d containers lost, %d flows, %d DELs", h.Down(e.now), lost, h.Flows(), len(calls.deleted))
	}
	run(e, 60*time.Second)
	if h.Down(e.now) || h.boot != 2 || len(calls.deleted) != lost || h.Flows() == 0 {
		t.Errorf("down %v, boot %d, %d DELs for %d containers, %d flows", h.Down(e.now), h.boot, len(calls.deleted), lost, h.Flows())
	}
	for _, c := range h.RNICs[0].VFs {
		if c != nil && c.stopped {
			t.Errorf("the VF %d is still bound to a container that is gone", c.VF)
		}
	}
}

func TestAFlowThatTheCardRefusedIsForwardedBySoftware(t *testing.T) {
	e := build(t, fmt.Sprintf(fleet, "fixed", 100), OpenAdmission{})
	for _, r := range e.rnics {
		r.Model.Costs.TableSlots = 0
	}
	run(e, 30*time.Second)
	h := e.hosts[0]
	if h.OffloadedFlows() != 0 || len(h.copies) < 40 {
		t.Fatalf("%d flows are offloaded and %d in software", h.OffloadedFlows(), len(h.copies))
	}
	before := e.rnics[0].Counters.XmitBytes
	run(e, 10*time.Second)
	if gbps := (e.rnics[0].Counters.XmitBytes - before) * 8 / 10 / 1e9; gbps < 1 {
		t.Errorf("software forwards %.2f Gbit/s, want more than nothing", gbps)
	}
}
