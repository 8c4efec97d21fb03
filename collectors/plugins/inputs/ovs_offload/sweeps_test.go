package ovs_offload

import (
	"runtime"
	"strings"
	"testing"

	"github.com/wallwatch/wallwatch/collectors/internal/plugintest"
)

func TestSweepsBetweenTwoGatheringsAreReportedWithMeanAndLongest(t *testing.T) {
	h := newHost(t, oneRNIC)
	if err := h.Init(); err != nil {
		t.Fatal(err)
	}
	lasts := func(ms string) { h.daemon.Answer("upcall/show", strings.Replace(emptyUpcall, "1ms", ms, 1)) }
	datapath := func(seconds float64) map[string]any {
		return plugintest.Find(t, h.step(t, seconds), "ovs_datapath", "datapath", "system@ovs-system").Fields()
	}

	if alone := datapath(0); alone["dump_duration_mean_ms"] != nil || alone["dump_duration_max_ms"] != nil {
		t.Errorf("one look has a mean: %v", alone)
	}
	for _, ms := range []string{"10ms", "700ms", "10ms"} {
		lasts(ms)
		h.LookAtSweep()
	}
	if got := datapath(10); got["dump_duration_ms"] != 1.0 || got["dump_duration_mean_ms"] != 180.25 || got["dump_duration_max_ms"] != 700.0 {
		t.Errorf("got %v", got)
	}
	if after := datapath(10); after["dump_duration_mean_ms"] != nil {
		t.Errorf("looks count twice: %v", after)
	}
}

func TestSweepsAreLookedAtBetweenStartAndStop(t *testing.T) {
	h := newHost(t, oneRNIC)
	h.SweepInterval = 1_000_000 // 1 ms
	if err := h.Init(); err != nil {
		t.Fatal(err)
	}
	h.daemon.Answer("upcall/show", emptyUpcall)
	if err := h.Start(&plugintest.Accumulator{}); err != nil {
		t.Fatal(err)
	}
	for looked := false; !looked; runtime.Gosched() {
		h.sweeps.mu.Lock()
		looked = h.sweeps.seen["system@ovs-system"].looks > 1
		h.sweeps.mu.Unlock()
	}
	h.Stop()
	h.Stop() // a second time is harmless
}
