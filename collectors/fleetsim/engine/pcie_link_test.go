package engine

import (
	"math"
	"slices"
	"testing"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/rnicmodel"
)

func TestALinkThatCameBackHasASpeedThatExists(t *testing.T) {
	for model, want := range map[string]struct {
		speed string
		gbps  float64 // of 8 lanes; 63 and 126 Gbit/s are what 16 lanes of generation 2 and 3 carry
	}{
		"CX-4": {"5.0 GT/s PCIe", 32}, "CX-6": {"8.0 GT/s PCIe", 63}, "CX-7": {"16.0 GT/s PCIe", 126},
	} {
		known, err := rnicmodel.Lookup(model)
		if err != nil {
			t.Fatal(err)
		}
		r := &RNIC{Model: known, PCI: "0000:17:00.0"}
		r.link.degraded = true
		if p := r.PCIe(); p.Speed != want.speed || p.Width != 8 {
			t.Errorf("%s: the link came back as %+v, want %s", model, p, want.speed)
		}
		if got := r.pcieGbps(); math.Abs(got-want.gbps) > 0.1 {
			t.Errorf("%s: the link carries %.2f Gbit/s, want %g", model, got, want.gbps)
		}
	}
}

func TestEveryModelHasAnExistingSpeed(t *testing.T) {
	for _, name := range rnicmodel.Names() {
		model, err := rnicmodel.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		if s := (&RNIC{Model: model}).speed(); !slices.Contains(linkSpeeds, s) || s.String() != model.PCISpeed {
			t.Errorf("%s: %q", name, model.PCISpeed)
		}
	}
	if slower(linkSpeeds[0]) != linkSpeeds[0] {
		t.Error("the slowest link became slower")
	}
}
