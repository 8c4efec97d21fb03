package engine

import (
	"fmt"
	"testing"
	"time"
)

func TestASetOfTheIndexWithoutAPlaceLosesItsOldestEntry(t *testing.T) {
	e := build(t, fmt.Sprintf(fleet, "evicting", 100), OpenAdmission{})
	r := e.rnics[0]
	r.Model.Costs.IndexSets = 1
	entries := []*Entry{}
	for i := range indexPlaces + 1 {
		one := &Entry{rnic: r, dir: Ingress, mask: 1, conn: &connection{}}
		r.install(one, time.Duration(i)*time.Millisecond)
		entries = append(entries, one)
	}
	if entries[0].state != absent || !entries[0].unnoticed || entries[1].state != installed || len(r.entries) != indexPlaces {
		t.Fatalf("the oldest is in state %v, the next in %v, %d entries are left", entries[0].state, entries[1].state, len(r.entries))
	}
	r.Host.upcall(entries[0], time.Second)
	if len(r.commands) != 0 {
		t.Error("the switch offloads a flow again that it believes to be offloaded")
	}
	r.Host.sweep(time.Second)
	r.Host.upcall(entries[0], time.Second)
	if len(r.commands) != 1 {
		t.Error("the switch does not offload a flow again that it has found missing")
	}
	r.remove(entries[1], time.Second)
	r.install(entries[0], time.Second)
	if entries[2].state != installed {
		t.Error("an entry lost its place although there was a free one")
	}
}

func TestEntriesAreLostWithCountersThatAreUpToDateOnlyAboveAPartOfTheIndex(t *testing.T) {
	for flows, want := range map[int]bool{6000: false, 8300: true} {
		e := build(t, fmt.Sprintf(fleet, "evicting", flows), OpenAdmission{})
		began := map[string]string{}
		for range 90 {
			for _, v := range e.Step(time.Second) {
				if !v.Marginal {
					began[v.Symptom+" "+v.RNIC.Host.Name+" "+v.RNIC.PCI] = v.Cause
				}
			}
		}
		if cause, began := began["S1 host01 0000:17:00.0"], len(began); (cause == "C1") != want || began > 1 {
			t.Errorf("%d flows: S1 has the cause %q, and %d symptoms began", flows, cause, began)
		}
		late := time.Duration(0)
		r := e.rnics[0]
		for _, one := range r.entries {
			late = max(late, e.now-one.lastUsed)
		}
		if late > 3*time.Second {
			t.Errorf("%d flows: a counter is %s late", flows, late)
		}
	}
}
