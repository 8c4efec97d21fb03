package engine_test

import (
	"math"
	"testing"
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine"
	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine/enginetest"
)

func TestARateGroupCapsTheSumOfItsVFsAndKeepsItsGuarantee(t *testing.T) {
	e := enginetest.New(t, `
name: test
seed: 9
topology: {hosts: 2, rnics_per_host: 1, models: [CX-6], firmware: fixed, vfs: 4}
workload:
  - {kind: training, containers: 2, flows: 1, gbps: 0.1}
tenants:
  - {host: host01, rnic: "0000:17:00.0", namespace: shop, pod: cart, slo: {max_mbps: 100000}, loads: [{kind: send, kpps: 1000, packet_bytes: 1000}]}
  - {host: host01, rnic: "0000:17:00.0", namespace: shop, pod: sales, slo: {max_mbps: 100000}, loads: [{kind: send, kpps: 20000, packet_bytes: 1000}]}
  - {host: host01, rnic: "0000:17:00.0", namespace: logs, pod: bulk, slo: {max_mbps: 100000}, loads: [{kind: send, kpps: 30000, packet_bytes: 1500}]}
`)
	h := e.Hosts()[0]
	r := h.RNICs[0]
	sent := func() (gbps [3]float64) {
		e.Step(2 * time.Second)
		var before [3]float64
		for vf := range before {
			before[vf] = r.VFCounters[vf].XmitBytes
		}
		e.Step(5 * time.Second)
		for vf := range before {
			gbps[vf] = (r.VFCounters[vf].XmitBytes - before[vf]) * 8 / 5e9
		}
		return gbps
	}
	regroup := func(group engine.RateGroup, vfs ...int) {
		t.Helper()
		for vf := range 3 {
			if err := e.GroupPort(h, r.PCI, engine.PortOfVF(vf), ""); err != nil {
				t.Fatal(err)
			}
		}
		if _, there := r.RateGroups()["batch"]; there {
			if err := e.DeleteRateGroup(h, r.PCI, "batch"); err != nil {
				t.Fatal(err)
			}
		}
		if err := e.AddRateGroup(h, r.PCI, "batch", group); err != nil {
			t.Fatal(err)
		}
		for _, vf := range vfs {
			if err := e.GroupPort(h, r.PCI, engine.PortOfVF(vf), "batch"); err != nil {
				t.Fatal(err)
			}
		}
	}
	if free := sent(); free[0]+free[1] > 100 {
		t.Fatalf("in a storm and without a group they send %.1f Gbit/s of 168", free)
	}
	// A fair share of the line for each, as any guarantee brings, would be 96 Gbit/s for the second one.
	regroup(engine.RateGroup{GuaranteedGbps: 150}, 0, 1)
	if kept := sent(); kept[0]+kept[1] < 148 || kept[0]+kept[1]+kept[2] > 1.01*r.Model.LineGbps {
		t.Errorf("with 150 Gbit/s guaranteed to the first two together they send %.1f", kept)
	}
	regroup(engine.RateGroup{LimitGbps: 10}, 1, 2)
	if capped := sent(); math.Abs(capped[1]+capped[2]-10) > 0.3 || capped[0] < 7 {
		t.Errorf("with 10 Gbit/s for the last two together they send %.1f, want that VF 0 has its 8", capped)
	}
}
