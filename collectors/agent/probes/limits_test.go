package probes

import (
	"net/netip"
	"testing"
	"time"
)

var noon = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

func TestABucketGivesItsBurstAndThenItsRate(t *testing.T) {
	b := fullBucket(2, 3, noon)
	taken := 0
	for range 10 {
		if b.take(noon) {
			taken++
		}
	}
	if taken != 3 || b.wait(noon) != 500*time.Millisecond {
		t.Errorf("%d taken at once, the next after %s", taken, b.wait(noon))
	}
	if b.take(noon.Add(400 * time.Millisecond)) {
		t.Error("a token came too early")
	}
	if !b.take(noon.Add(500*time.Millisecond)) || b.take(noon.Add(500*time.Millisecond)) {
		t.Error("half a second gives one token")
	}
	if b.take(noon) {
		t.Error("a clock that goes back gives a token")
	}
}

func TestEachSourceHasItsOwnLimit(t *testing.T) {
	s := newSources(10)
	first, second := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
	answered := 0
	for range 10 * answersPerSource {
		if s.take(first, noon) {
			answered++
		}
	}
	if answered != answersPerSource || !s.take(second, noon) {
		t.Errorf("%d answers to the first source", answered)
	}
	if !s.take(first, noon.Add(time.Second)) {
		t.Error("a second later there is no answer")
	}
}

func TestInventedSourcesDoNotFillTheMemory(t *testing.T) {
	s := newSources(100)
	answered := 0
	for i := range 10_000 {
		if s.take(netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}), noon) {
			answered++
		}
	}
	if len(s.buckets) != 100 || answered != 100 {
		t.Errorf("%d sources kept, %d answered", len(s.buckets), answered)
	}
	if !s.take(netip.MustParseAddr("192.0.2.1"), noon.Add(2*time.Second)) || len(s.buckets) != 1 {
		t.Errorf("no room for a new source when the others are quiet: %d kept", len(s.buckets))
	}
}

func TestByDefaultOneLateProbeIsVisibleForTwoSeconds(t *testing.T) {
	w := window{length: time.Duration(DefaultConfig().WindowSeconds * float64(time.Second))}
	w.add(roundTrip{at: noon, took: time.Second})
	visible := 0
	for second := range 20 {
		w.add(roundTrip{at: noon.Add(time.Duration(second)*time.Second + time.Millisecond), took: time.Microsecond})
		if _, p99, _ := w.quantiles(noon.Add(time.Duration(second)*time.Second + 500*time.Millisecond)); p99 == time.Second {
			visible++
		}
	}
	if visible != 2 {
		t.Errorf("visible in %d of the file's writings", visible)
	}
}

func TestQuantilesAreOfTheWindowOnly(t *testing.T) {
	w := window{length: 10 * time.Second}
	if _, _, count := w.quantiles(noon); count != 0 {
		t.Errorf("%d round trips at the start", count)
	}
	w.add(roundTrip{at: noon, took: time.Hour})
	for i := range 100 {
		w.add(roundTrip{at: noon.Add(time.Second), took: time.Duration(100-i) * time.Millisecond})
	}
	p50, p99, count := w.quantiles(noon.Add(10 * time.Second))
	if p50 != 50*time.Millisecond || p99 != 99*time.Millisecond || count != 100 {
		t.Errorf("%s, %s of %d", p50, p99, count)
	}
	if _, _, count = w.quantiles(noon.Add(11 * time.Second)); count != 0 || len(w.trips) != 0 {
		t.Errorf("%d round trips after the window", count)
	}
}
