package record

import (
	"testing"
	"time"
)

func TestSamplesOfAHostAreOutOfStepWithItsSecondsAndKeepTheirInterval(t *testing.T) {
	o := &Options{Interval: 10 * time.Second, Jitter: time.Second}
	s, again := newSchedule(o, 7, 1), newSchedule(o, 7, 1)
	halves, samples, looks, late := 0, 0, 0, 0
	const end = 1000 * time.Second
	for at := 500 * time.Millisecond; at <= end; at += 500 * time.Millisecond {
		sample, look := s.due(at)
		if a, b := again.due(at); a != sample || b != look {
			t.Fatalf("at %s another schedule with the same seed differs", at)
		}
		if look {
			looks++
			late += int(at % time.Second / (500 * time.Millisecond))
		}
		if sample {
			samples++
			halves += int(at % time.Second / (500 * time.Millisecond))
			if off := at % o.Interval; off >= o.Jitter {
				t.Errorf("a sample comes %s after its time", off)
			}
		}
	}
	if samples < 99 || samples > 100 || halves < 30 || halves > 70 {
		t.Errorf("%d samples, %d of them in the middle of a second", samples, halves)
	}
	if looks < 999 || looks > 1001 || late < 400 || late > 600 {
		t.Errorf("%d looks, %d of them in the middle of a second", looks, late)
	}
}

func TestWithoutJitterSamplesComeAtWholeIntervals(t *testing.T) {
	s := newSchedule(&Options{Interval: 2 * time.Second}, 7, 1)
	for at := 500 * time.Millisecond; at <= time.Minute; at += 500 * time.Millisecond {
		if sample, _ := s.due(at); sample != (at%(2*time.Second) == 0) {
			t.Fatalf("at %s: %t", at, sample)
		}
	}
}
