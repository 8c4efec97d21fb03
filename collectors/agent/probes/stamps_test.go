package probes

import (
	"testing"
	"time"
)

func TestTheKernelsTimeCountsWhereTheClockWasNotSet(t *testing.T) {
	const µs = time.Microsecond
	for name, c := range map[string]struct {
		read, stamp, kept, want time.Duration
	}{
		"no time of the kernel":              {read: 90 * µs, want: 90 * µs},
		"the agent came late":                {read: 5000 * µs, stamp: 80 * µs, want: 80 * µs},
		"the other agent came late":          {read: 5000 * µs, stamp: 4000 * µs, kept: 3950 * µs, want: 50 * µs},
		"the clock was set back":             {read: 90 * µs, stamp: -time.Second, want: 90 * µs},
		"the clock was set forward":          {read: 90 * µs, stamp: time.Second, want: 90 * µs},
		"kept for longer than it was away":   {read: 90 * µs, stamp: 80 * µs, kept: 200 * µs, want: 80 * µs},
		"kept, and no time of the kernel":    {read: 90 * µs, kept: 30 * µs, want: 60 * µs},
		"kept for as long as it was away":    {read: 90 * µs, stamp: 80 * µs, kept: 80 * µs, want: 80 * µs},
		"read in the moment that it arrives": {read: 80 * µs, stamp: 80 * µs, want: 80 * µs},
	} {
		back := at(noon.Add(c.read))
		if c.stamp != 0 {
			back.stamp = noon.Add(c.stamp)
		}
		if took := roundTripOf(noon, back, c.kept); took != c.want {
			t.Errorf("%s: %s, want %s", name, took, c.want)
		}
	}
}

func TestARequestIsKeptFromItsArrivalOn(t *testing.T) {
	now := noon.Add(time.Second)
	for name, c := range map[string]struct {
		came arrival
		want time.Duration
	}{
		"the kernel noted it":       {arrival{read: now.Add(-10), stamp: now.Add(-time.Millisecond)}, time.Millisecond},
		"the kernel noted nothing":  {at(now.Add(-time.Microsecond)), time.Microsecond},
		"the clock was set back":    {arrival{read: now, stamp: now.Add(time.Hour)}, 0},
		"the clock was set forward": {arrival{read: now, stamp: now.Add(-time.Hour)}, 0},
	} {
		if kept := keptFor(c.came, now); kept != c.want {
			t.Errorf("%s: %s, want %s", name, kept, c.want)
		}
	}
}

func TestControlMessagesWithoutATimeHaveNone(t *testing.T) {
	for _, control := range [][]byte{nil, {1, 2, 3}, make([]byte, stampSpace)} {
		if stamp := stampOf(control); !stamp.IsZero() {
			t.Errorf("%x: %s", control, stamp)
		}
	}
}
