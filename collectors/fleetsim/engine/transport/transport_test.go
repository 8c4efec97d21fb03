package transport

import (
	"math"
	"testing"
)

func TestAPortLendsWhatAClassLeavesUnlessTheCardDoesNot(t *testing.T) {
	for _, c := range []struct {
		name    string
		classes []Class
		lends   bool
		want    []float64
	}{
		{"both want more than there is", []Class{{0.5, 90}, {0.5, 90}}, true, []float64{50, 50}},
		{"one leaves its share", []Class{{0.5, 9}, {0.5, 90}}, true, []float64{9, 90}},
		{"one leaves its share, which is not lent", []Class{{0.5, 9}, {0.5, 90}}, false, []float64{9, 50}},
		{"lent by guarantees", []Class{{0.5, 10}, {0.3, 90}, {0.2, 90}}, true, []float64{10, 54, 36}},
		{"without a guarantee there is what is left", []Class{{0.6, 50}, {0.4, 20}, {0, 90}}, true, []float64{50, 20, 30}},
	} {
		got := Select(c.classes, 100, c.lends)
		for i := range got {
			if math.Abs(got[i]-c.want[i]) > 1e-6 {
				t.Errorf("%s: got %v, want %v", c.name, got, c.want)
				break
			}
		}
	}
}

func TestThePipelineStandsOnlyWhenMoreConnectionsLoseResponsesThanThereAreContexts(t *testing.T) {
	if s := StallOf(11, 11, 1); s != (Stall{}) {
		t.Errorf("as many as there are contexts: %+v", s)
	}
	if s := StallOf(0, 500, 1); s != (Stall{}) {
		t.Errorf("a card without a slow path: %+v", s)
	}
	s := StallOf(11, 12, 1)
	if s.DropsPerSecond != 107 || math.Abs(s.Share-0.43) > 1e-9 || s.TimeoutsPerQPps != 1 {
		t.Errorf("one more, each second: %+v", s)
	}
	if s := StallOf(11, 16, 100); s.Share != 1 {
		t.Errorf("losses without a pause: %+v", s)
	}
}

func TestSixteenConnectionsThatStartTogetherLoseAboutFiveHundredPackets(t *testing.T) {
	if StartDrops(15) != 0 || math.Abs(StartDrops(16)-500) > 20 {
		t.Errorf("%v and %v", StartDrops(15), StartDrops(16))
	}
}
