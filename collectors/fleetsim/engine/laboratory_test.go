package engine_test

import (
	"slices"
	"testing"
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine"
	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine/enginetest"
	"github.com/wallwatch/wallwatch/collectors/fleetsim/scenario"
)

const laboratory = `
name: laboratory
seed: 3
topology: {hosts: 1, rnics_per_host: 1, models: [CX-6], externals: 4, noise: 0.002}
workload:
  - {kind: training, containers: 1, flows: 2, gbps: 1}
`

func TestALoadHasItsMasksByDirectionAndEndsInSteps(t *testing.T) {
	e := enginetest.New(t, laboratory)
	e.Step(2 * time.Second)
	r := e.Hosts()[0].RNICs[0]
	masks := func(d engine.Direction) int { return len(r.Places(d)) }
	usual := [2]int{masks(engine.Egress), masks(engine.Ingress)}
	load := e.StartLoad(r, scenario.Job{Kind: "training", Containers: 3, Flows: 200, Gbps: 20, Even: true, Masks: 40, IngressMasks: 7, FirstMask: 100})
	e.Step(5 * time.Second)
	if added := [2]int{masks(engine.Egress) - usual[0], masks(engine.Ingress) - usual[1]}; added != [2]int{40, 7} {
		t.Errorf("%v masks were added, want 40 and 7", added)
	}
	if flows := e.DirectionTraffic(r, engine.Egress).Flows; flows != 101 {
		t.Errorf("%d flows leave, want 101", flows)
	}
	load.StopTraffic()
	e.Step(time.Second)
	if flows := e.DirectionTraffic(r, engine.Egress).Flows; flows != 1 {
		t.Errorf("%d flows leave a load whose traffic has stopped, want the other job's", flows)
	}
	taken := func() int {
		return len(r.VFs) - len(slices.DeleteFunc(slices.Clone(r.VFs), func(c *engine.Container) bool { return c != nil }))
	}
	if taken() != 4 {
		t.Errorf("%d VFs are taken, want 4", taken())
	}
	load.StopContainers(time.Second)
	e.Step(time.Second)
	if taken() >= 4 || taken() == 1 || !load.Running() {
		t.Errorf("%d VFs are taken while the load's containers stop one after another", taken())
	}
	e.Step(3 * time.Second)
	if taken() != 1 || load.Running() {
		t.Errorf("%d VFs are taken, want that of the other job", taken())
	}
}

func TestALoadThatOnlySendsHasAContextForEachOfItsNetworks(t *testing.T) {
	e := enginetest.New(t, laboratory)
	r := e.Hosts()[0].RNICs[0]
	e.StartLoad(r, scenario.Job{Kind: "multi-tenant", Containers: 2, Flows: 50, Gbps: 1, Even: true, EgressOnly: true, Networks: 50,
		FlowLifetime: scenario.Duration(time.Hour)})
	e.Step(3 * time.Second)
	if out, in := e.DirectionTraffic(r, engine.Egress).Flows, e.DirectionTraffic(r, engine.Ingress).Flows; out != 51 || in != 1 {
		t.Errorf("%d flows leave and %d arrive, want 51 and 1", out, in)
	}
}
