package rnicmodel

import (
	"math"
	"testing"
)

func TestBandwidthAtTheOriginIsTheFigureOfTheDomainPage(t *testing.T) {
	for name, want := range map[string]float64{"CX-4": 38.0, "CX-5": 78.8, "CX-6": 158, "CX-7": 352, "BF-3": 354, "E810": 170} {
		m, err := Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Performance.BandwidthGbps(0, 0); math.Abs(got-want) > 0.5 {
			t.Errorf("%s: %.2f Gbit/s at the origin, want %.1f", name, got, want)
		}
	}
}

func TestLatencyAtTheOriginIsTheConstantOfTable3AndGrowsWithBothChains(t *testing.T) {
	m, _ := Lookup("CX-6")
	if got := m.Performance.LatencyUs(0, 0); got != 2.69 {
		t.Errorf("got %v us at the origin, want 2.69", got)
	}
	if got, want := m.Performance.LatencyUs(10, 20), 2.69+0.47+1.36; math.Abs(got-want) > 1e-9 {
		t.Errorf("got %v us at (10, 20), want %v", got, want)
	}
}

func TestAnUnknownModelIsRefusedWithTheListOfKnownOnes(t *testing.T) {
	if _, err := Lookup("CX-9"); err == nil {
		t.Fatal("CX-9 was accepted")
	}
}
