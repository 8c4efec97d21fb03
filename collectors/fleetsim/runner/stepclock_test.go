package runner

import (
	"testing"
	"time"
)

func TestVirtualTimeGoesOnBetweenSteps(t *testing.T) {
	began := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	after := func(s float64) time.Time { return began.Add(time.Duration(s * float64(time.Second))) }
	c := &stepClock{}
	if got := c.at(began); got != 0 {
		t.Errorf("before the start: %s, want 0", got)
	}
	c.start(began, 3)
	c.advance(after(0.5), 1500*time.Millisecond)
	for real, want := range map[float64]time.Duration{
		0.5: 1500 * time.Millisecond,
		0.7: 2100 * time.Millisecond,
		1:   3 * time.Second,
		9:   7500 * time.Millisecond, // a pause of the machine: the next step catches up on 2 s of it
	} {
		if got := c.at(after(real)); got != want {
			t.Errorf("after %g s: %s, want %s", real, got, want)
		}
	}
}
