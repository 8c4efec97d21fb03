package ovs_offload

import (
	"testing"
	"time"
)

// A flow is used at 0 s. Its line is read at 4 s, and it is missing in the dump that is requested at another time and takes a while to read.
func TestAFlowHasAgedUnlessItsDeletionCameCertainlyTooEarly(t *testing.T) {
	for name, c := range map[string]struct {
		requestedS float64 // when the dump without the flow is requested
		takes      time.Duration
		want       string
	}{
		"deleted when max-idle is over":                   {10, 0, "flow_aged flow_entry_deleted"},
		"the last use was printed a tick too late":        {9.985, 0, "flow_aged flow_entry_deleted"},
		"deleted before":                                  {9.975, 0, "flow_entry_deleted"},
		"max-idle is over while the dump is being read":   {9.5, 500 * time.Millisecond, "flow_aged flow_entry_deleted"},
		"the dump is read before max-idle is over":        {9.5, 400 * time.Millisecond, "flow_entry_deleted"},
		"long before, as entries that the firmware loses": {6, 0, "flow_entry_deleted"},
	} {
		t.Run(name, func(t *testing.T) {
			h := judging(t, oneRNIC)
			h.step(t, 0)
			h.step(t, 4, line(1, 32, 5, "4.000s", inHardware))
			// A gathering looks at the clock when it begins, when it requests the dump, and when it has read it.
			next := start.Add(time.Duration(c.requestedS*float64(time.Second)) - c.takes)
			h.SetClock(func() time.Time {
				next = next.Add(c.takes)
				return next.Add(-c.takes)
			})
			if got := words(h.step(t, 0))["1"]; got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestPacketsOfBeforeTheOffloadAreNoSoftwareHits(t *testing.T) {
	h := judging(t, oneRNIC)
	h.step(t, 0, line(1, 32, 100, "0.1s", inSoftware))
	// Software had the flow until it was offloaded, and counted packets up to then.
	got := words(h.step(t, 1, line(1, 32, 3, "0.1s", inHardware), line(1, 32, 140, "0.1s", inSoftware)))["1"]
	if want := "flow_offloaded flow_entry_created"; got != want {
		t.Errorf("offloaded between two dumps: got %q, want %q", got, want)
	}
	got = words(h.step(t, 1, line(1, 32, 9, "0.1s", inHardware), line(1, 32, 140, "1.1s", inSoftware)))["1"]
	if got != "" {
		t.Errorf("a copy that stands still: got %q, want no event", got)
	}
	got = words(h.step(t, 1, line(1, 32, 9, "1.1s", inHardware), line(1, 32, 150, "0.1s", inSoftware)))["1"]
	if want := "flow_software_hit"; got != want {
		t.Errorf("a copy that counts while the RNIC has the entry: got %q, want %q", got, want)
	}
}

func TestPacketsBetweenTwoEntriesOfAFlowAreNoSoftwareHits(t *testing.T) {
	h := judging(t, oneRNIC)
	h.step(t, 0, line(1, 32, 100, "0.1s", inHardware))
	// The counter began again: the entry was deleted and created, and software handled what came between the two.
	got := words(h.step(t, 1, line(1, 32, 3, "0.1s", inHardware), line(1, 32, 40, "0.1s", inSoftware)))["1"]
	if want := "flow_entry_deleted flow_offloaded flow_entry_created flow_returned"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
