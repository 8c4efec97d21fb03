package rate

import (
	"math"
	"testing"
	"time"
)

const anyRate = 1e12

func TestARateIsTheGrowthPerSecond(t *testing.T) {
	var c Counter
	start := time.Now()
	if _, ok := c.Step(100, start, anyRate); ok {
		t.Error("the first reading gave a rate")
	}
	if got, ok := c.Step(600, start.Add(2*time.Second), anyRate); !ok || got != 250 {
		t.Errorf("got %v, %v; want 250", got, ok)
	}
}

func TestACounterThatStandsStillHasTheRateZero(t *testing.T) {
	var c Counter
	start := time.Now()
	c.Step(7, start, anyRate)
	if got, ok := c.Step(7, start.Add(time.Second), anyRate); !ok || got != 0 {
		t.Errorf("got %v, %v; want a measured zero", got, ok)
	}
}

func TestAWrapIsContinued(t *testing.T) {
	var c Counter
	start := time.Now()
	c.Step(math.MaxUint64-9, start, anyRate)
	if got, ok := c.Step(10, start.Add(time.Second), anyRate); !ok || got != 20 {
		t.Errorf("got %v, %v; want 20", got, ok)
	}
}

func TestAResetGivesNoRateAndTheNextReadingDoes(t *testing.T) {
	var c Counter
	start := time.Now()
	c.Step(5_000_000, start, anyRate)
	if got, ok := c.Step(10, start.Add(time.Second), anyRate); ok {
		t.Errorf("a reset gave the rate %v", got)
	}
	if got, ok := c.Step(30, start.Add(2*time.Second), anyRate); !ok || got != 20 {
		t.Errorf("got %v, %v; want 20", got, ok)
	}
}

func TestAMissingReadingEndsTheSeries(t *testing.T) {
	var c Counter
	start := time.Now()
	c.Step(1, start, anyRate)
	c.Forget()
	if _, ok := c.Step(100, start.Add(time.Second), anyRate); ok {
		t.Error("a rate was made over a gap")
	}
}

func TestTwoReadingsAtOneTimeGiveNoRate(t *testing.T) {
	var c Counter
	now := time.Now()
	c.Step(1, now, anyRate)
	if _, ok := c.Step(100, now, anyRate); ok {
		t.Error("a rate was made of no time")
	}
}

func TestACounterThatComesBackAfterAResetGivesNoRate(t *testing.T) {
	var c Counter
	start := time.Now()
	c.Step(5_000_000_000_000_000, start, anyRate)
	// While a driver is loaded its counters can show zero, and then all of their past at once.
	c.Step(0, start.Add(time.Second), anyRate)
	if got, ok := c.Step(5_000_000_000_000_100, start.Add(2*time.Second), anyRate); ok {
		t.Errorf("the past became the rate %v", got)
	}
	if got, ok := c.Step(5_000_000_000_000_120, start.Add(3*time.Second), anyRate); !ok || got != 20 {
		t.Errorf("got %v, %v; want 20", got, ok)
	}
}

func TestAWrapOf32BitsGivesNoRate(t *testing.T) {
	var c Counter
	start := time.Now()
	c.Step(math.MaxUint32-9, start, anyRate)
	// At today's speeds 32 bits of words wrap in a second or two: nobody knows how often it did.
	if got, ok := c.Step(10, start.Add(time.Second), anyRate); ok {
		t.Errorf("got %v", got)
	}
}
