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

func TestCountersOfFirmwareThatEvictsEntriesAreUpToDate(t *testing.T) {
	for _, flows := range []int{6000, 8300} {
		e := build(t, fmt.Sprintf(fleet, "evicting", flows), OpenAdmission{})
		run(e, 90*time.Second)
		late := time.Duration(0)
		for _, entry := range e.rnics[0].entries {
			late = max(late, e.now-entry.lastUsed)
		}
		if late > 3*time.Second {
			t.Errorf("%d flows: a counter is %s late", flows, late)
		}
	}
}
