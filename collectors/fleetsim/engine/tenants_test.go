package engine_test

import (
	"math"
	"testing"
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine"
	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine/enginetest"
	"github.com/wallwatch/wallwatch/collectors/fleetsim/scenario"
)

const shared = `
name: test
seed: 9
topology: {hosts: 2, rnics_per_host: 2, models: [CX-6], firmware: fixed, vfs: 4}
workload:
  - {kind: training, containers: 2, flows: 16, gbps: 2}
tenants:
  - {host: host01, rnic: "0000:17:00.0", namespace: shop, pod: cart, slo: {max_mbps: 8000, p99_us: 200}, loads: [{kpps: 100, packet_bytes: 500}]}
  - {host: host01, rnic: "0000:17:00.0", namespace: logs, pod: shipper, slo: {max_mbps: 2000}, policer_mbps: 400, loads: [{kind: send, kpps: 100, packet_bytes: 1000}]}
events:
  - {at: 20s, for: 5s, host: host01, rnic: "0000:17:00.0", operator: port-down}
  - {at: 40s, host: host01, operator: reboot}
`

func TestTenantsHaveTheFirstVFsAndJobsTheNext(t *testing.T) {
	e := enginetest.New(t, shared)
	e.Step(2 * time.Second)
	vfs := e.Hosts()[0].RNICs[0].VFs
	if vfs[0].Pod != "cart" || vfs[1].Pod != "shipper" || vfs[1].SLO != `{"min_mbps":0,"max_mbps":2000}` {
		t.Errorf("tenants are %+v and %+v", vfs[0], vfs[1])
	}
	if vfs[2] == nil || vfs[2].Pod != "" || vfs[3] == nil {
		t.Errorf("the job's containers are %+v and %+v", vfs[2], vfs[3])
	}
	if e.Hosts()[1].RNICs[0].Shared() || !e.Hosts()[0].RNICs[0].Shared() {
		t.Error("only the RNIC with tenants is shared")
	}
}

// cordoned refuses tenants until its test lets them in.
type cordoned struct {
	engine.OpenAdmission
	open bool
}

func (c *cordoned) Add(container *engine.Container) error {
	if container.Pod != "" && !c.open {
		return engine.ErrTryLater
	}
	return nil
}

func TestATenantThatIsRefusedKeepsItsVFFreeAndStartsLater(t *testing.T) {
	s, err := scenario.Parse([]byte(shared))
	if err != nil {
		t.Fatal(err)
	}
	admission := &cordoned{}
	e, err := engine.New(s, admission)
	if err != nil {
		t.Fatal(err)
	}
	e.Step(8 * time.Second)
	r := e.Hosts()[0].RNICs[0]
	if r.VFs[0] != nil || r.VFs[1] != nil || r.VFs[2] == nil || r.VFCounters[0].XmitPackets != 0 {
		t.Fatalf("VFs are %v", r.VFs)
	}
	admission.open = true
	e.Step(8 * time.Second)
	if r.VFs[0] == nil || r.VFCounters[0].XmitPackets == 0 {
		t.Error("the tenant does not start when it may")
	}
}

func TestWhatATenantSendsIsAnsweredAndItsPolicerDropsTheRest(t *testing.T) {
	e := enginetest.New(t, shared)
	e.Step(10 * time.Second)
	r := e.Hosts()[0].RNICs[0]
	cart, shipper := r.VFCounters[0], r.VFCounters[1]
	if got := cart.XmitPackets / 10; math.Abs(got-100e3) > 5e3 || cart.RcvPackets < 0.99*cart.XmitPackets-2000 {
		t.Errorf("%g packets per second sent, %g received in all", got, cart.RcvPackets)
	}
	queue, _ := r.SendQueue(1)
	if mbps := shipper.XmitBytes * 8 / 10 / 1e6; math.Abs(mbps-400) > 5 || queue.Policed < 400e3 || shipper.RcvPackets != 0 {
		t.Errorf("%g Mbit/s sent, %g packets dropped by the policer", mbps, queue.Policed)
	}
	if r.Counters.EngineDiscards != 0 || cart.RcvDropped != 0 {
		t.Error("an engine at ease discards packets")
	}
}

func TestNothingOfATenantPassesAPortThatIsDownAndAllBeginsAfreshWithABoot(t *testing.T) {
	e := enginetest.New(t, shared)
	r := e.Hosts()[0].RNICs[0]
	e.Step(21 * time.Second)
	before := r.VFCounters[0]
	e.Step(3 * time.Second)
	if after := r.VFCounters[0]; after != before {
		t.Errorf("while the port is down: %+v, then %+v", before, after)
	}
	e.Step(4 * time.Second)
	if after := r.VFCounters[0]; after.RcvPackets <= before.RcvPackets {
		t.Error("nothing comes back with the port")
	}
	e.Step(14 * time.Second) // 42 s: the host is down
	if r.VFs[0] != nil || r.VFCounters[0] != (engine.VFCounters{}) {
		t.Errorf("a host that boots has %+v on VF 0", r.VFCounters[0])
	}
	if _, answered := r.Delay(0, 42*time.Second); answered {
		t.Error("probes are answered by a host that is down")
	}
	e.Step(60 * time.Second)
	if r.VFs[0] == nil || r.VFCounters[0].RcvPackets == 0 || r.VFCounters[0].RcvPackets > before.RcvPackets*4 {
		t.Errorf("after the boot: %+v", r.VFCounters[0])
	}
}

func TestAFleetWithTenantsIsTheSameForTheSameSeed(t *testing.T) {
	var sums [2]engine.VFCounters
	for i := range sums {
		e := enginetest.New(t, shared)
		e.Step(15 * time.Second)
		sums[i] = e.Hosts()[0].RNICs[0].VFCounters[0]
	}
	if sums[0] != sums[1] {
		t.Errorf("%+v and %+v", sums[0], sums[1])
	}
}

func TestAGuaranteedVFKeepsItsMinimumUnderAStorm(t *testing.T) {
	e := enginetest.New(t, `
name: test
seed: 9
topology: {hosts: 2, rnics_per_host: 1, models: [CX-6], firmware: fixed, vfs: 4}
workload:
  - {kind: training, containers: 2, flows: 1, gbps: 0.1}
tenants:
  - {host: host01, rnic: "0000:17:00.0", namespace: shop, pod: cart, slo: {min_mbps: 10000, max_mbps: 100000}, loads: [{kind: send, kpps: 2000, packet_bytes: 1000}]}
  - {host: host01, rnic: "0000:17:00.0", namespace: logs, pod: bulk, slo: {max_mbps: 100000}, loads: [{kind: send, kpps: 30000, packet_bytes: 1500}]}
`)
	h := e.Hosts()[0]
	r := h.RNICs[0]
	sent := func() (victim, storm float64) {
		e.Step(2 * time.Second)
		before := [2]float64{r.VFCounters[0].XmitBytes, r.VFCounters[1].XmitBytes}
		e.Step(5 * time.Second)
		return (r.VFCounters[0].XmitBytes - before[0]) * 8 / 5e9, (r.VFCounters[1].XmitBytes - before[1]) * 8 / 5e9
	}
	line := r.Model.LineGbps
	if victim, storm := sent(); victim > 9 || victim+storm > 1.01*line {
		t.Fatalf("without a guarantee the victim sends %.1f Gbit/s of 16, the storm %.1f", victim, storm)
	}
	if err := e.GuaranteeVF(h, r.Netdev, 0, 10); err != nil {
		t.Fatal(err)
	}
	// It wants 16, is guaranteed 10, and its fair share of the rest is more than what is left of its demand.
	if victim, storm := sent(); victim < 15 || victim+storm > 1.01*line || storm < 0.9*(line-16) {
		t.Errorf("with a guarantee the victim sends %.1f Gbit/s, the storm %.1f", victim, storm)
	}
	if err := e.LimitVF(h, r.Netdev, 0, 12); err != nil {
		t.Fatal(err)
	}
	if victim, _ := sent(); victim < 10 || victim > 12.1 {
		t.Errorf("a VF with a guarantee of 10 and a limit of 12 Gbit/s sends %.1f", victim)
	}
	if err := e.GuaranteeVF(h, r.Netdev, 0, 13); err == nil {
		t.Error("a guarantee above the limit was accepted")
	}
	if err := e.GuaranteeVF(h, r.Netdev, 99, 1); err == nil {
		t.Error("a VF that is not there was accepted")
	}
	if err := e.GuaranteePort(h, r.PCI, engine.PortOfVF(0), 0); err != nil || r.VFGuaranteeGbps(0) != 0 {
		t.Errorf("removed by devlink: %v, %g", err, r.VFGuaranteeGbps(0))
	}
}
