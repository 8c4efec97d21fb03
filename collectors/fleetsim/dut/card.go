package dut

import (
	"errors"
	"slices"
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine"
	"github.com/wallwatch/wallwatch/collectors/fleetsim/rnicmodel"
	"github.com/wallwatch/wallwatch/collectors/fleetsim/scenario"
	"github.com/wallwatch/wallwatch/collectors/fleetsim/truth"
)

const (
	// mostVFs is how many a test may use; the others are for the containers of the further loads.
	mostVFs = 12
	allVFs  = mostVFs + 4
	// backgroundPerSecond is how many new flows per second the host has anyway.
	backgroundPerSecond = 20
	// tunnelPeers are hosts outside the simulation, so that no other card can be the bottleneck.
	tunnelPeers = 16
	// fillRate is how many flows per second a test opens before it begins, so slowly that it is no load for the command queue.
	fillRate = 300
	// burst is how long new flows come at the rate of a test. Each lives for a step of the engine and is replaced in the step after the next one, so
	// that there are as many of them as come per second.
	burst = 18 * time.Second
	// observed is how long the card is watched after it, measured the last part of it whose means are the metrics.
	observed, measured = 22 * time.Second, 10 * time.Second
	// afterTeardown is how long the card is watched after it: a command that waits is given up after 10 s.
	afterTeardown = 16 * time.Second
	// longestRelease is how long a teardown waits for containers that do not stop.
	longestRelease = 5 * time.Second
	// betweenTests is how long a card rests until its next test. It deletes what the test has left, and a host whose kernel stood still works again.
	betweenTests = time.Minute
	trickleGbps  = 0.1 // of each auxiliary load
)

// card is a simulated host with one RNIC in a laboratory.
type card struct {
	engine *engine.Engine
	host   *engine.Host
	rnic   *engine.RNIC
	gate   *gate
	// firstMask is the number of the next test's first mask: each test has rules of its own, as each tenant has.
	firstMask int
}

// gate lets all containers in. Their VFs are released by the test, not by the container runtime.
type gate struct{ waiting []*engine.Container }

func (g *gate) Add(*engine.Container) error { return nil }

func (g *gate) Del(c *engine.Container) error {
	g.waiting = append(g.waiting, c)
	return engine.ErrWaits
}

// newCard puts a card of a model into a slot with so many lanes, with nothing on it.
func newCard(model rnicmodel.Model, c configuration, noise float64, seed uint64) (*card, error) {
	version := map[bool]string{true: "fixed", false: "flawed"}
	loaded := version[c.firmware.fixed]
	if c.firmware.evicting {
		loaded = "evicting"
	}
	bed := &scenario.Scenario{Name: "laboratory", Seed: seed,
		Topology: scenario.Topology{Racks: 1, Hosts: 1, RNICsPerHost: 1, Models: []string{model.Name}, VFs: allVFs, External: tunnelPeers,
			Firmware: loaded, Driver: version[c.fixedDriver], Noise: noise},
		Overrides: []scenario.Override{{Host: scenario.HostName(0), RNIC: scenario.PCIAddress(0), PCIeLanes: c.lanes}}}
	g := &gate{}
	e, err := engine.New(bed, g)
	if err != nil {
		return nil, err
	}
	h := e.Hosts()[0]
	return &card{engine: e, host: h, rnic: h.RNICs[0], gate: g}, nil
}

// outcome is what an observer of a test has seen.
type outcome struct {
	symptoms []string
	metrics  map[string]float64
}

// run does one test.
func (k *card) run(c configuration) outcome {
	judge := truth.Watch(k.engine)
	k.engine.ApplyOtherConfig(k.host, map[string]string{"max-idle": c.maxIdle})
	loads := k.fill(c)
	filled := time.Duration((c.flows+c.contexts)/fillRate+1) * time.Second
	k.step(filled)

	meter := newMeter(k)
	burstLoad := k.engine.StartLoad(k.rnic, k.churn(c.insertions))
	meter.watchInsertions(burst)
	burstLoad.StopTraffic()
	k.step(observed - measured)
	meter.watchForwarding(measured)

	k.tearDown(append(loads, burstLoad), c)
	k.step(afterTeardown)
	return outcome{symptoms: k.symptoms(judge), metrics: meter.metrics()}
}

func (k *card) step(d time.Duration) { k.engine.Step(d) }

// fill opens the flows that stay: those of the traffic, and those that each have an encapsulation context of their own.
func (k *card) fill(c configuration) []*engine.Load {
	kind := "training" // decides on the size of packets
	if c.smallPackets {
		kind = "microservices"
	}
	ramp := scenario.Duration(time.Duration(c.flows+c.contexts) * time.Second / fillRate)
	gbps := k.rnic.Model.Performance.BandwidthGbps(0, 0) * float64(c.loadPercent) / 100
	traffic := scenario.Job{Kind: kind, Containers: c.vfs, Flows: c.flows, Gbps: gbps, Even: true, Ramp: ramp,
		Masks: c.masksEgress, IngressMasks: c.masksIngress, FirstMask: k.firstMask}
	tunnels := k.auxiliary("multi-tenant", c.contexts, 2)
	tunnels.EgressOnly, tunnels.Networks, tunnels.Ramp = true, c.contexts, ramp
	return []*engine.Load{k.engine.StartLoad(k.rnic, traffic), k.engine.StartLoad(k.rnic, tunnels), k.engine.StartLoad(k.rnic, k.churn(backgroundPerSecond))}
}

// auxiliary is a load with next to no traffic, on the test's first mask.
func (k *card) auxiliary(kind string, flows, containers int) scenario.Job {
	return scenario.Job{Kind: kind, Containers: containers, Flows: flows, Gbps: trickleGbps, Even: true, Masks: 1, FirstMask: k.firstMask}
}

// churn is flows that are replaced by new ones, so many per second.
func (k *card) churn(perSecond int) scenario.Job {
	j := k.auxiliary("training", perSecond, 1)
	j.FlowLifetime, j.Ramp = scenario.Duration(engine.MaxStep), scenario.Duration(2*engine.MaxStep)
	return j
}

// tearDown ends a test in the order of its events.
func (k *card) tearDown(loads []*engine.Load, c configuration) {
	for _, event := range c.teardown {
		switch event {
		case stopTraffic:
			for _, load := range loads {
				load.StopTraffic()
			}
			k.step(time.Second)
		case deleteRules:
			k.deleteRules()
			k.step(time.Second)
		case releaseVFs:
			for _, load := range loads {
				k.release(load, c.releaseInterval)
			}
		}
	}
}

// deleteRules deletes the rules of each VF, as "tc filter del dev REPRESENTOR ingress" does; those of the tunnel's port age.
func (k *card) deleteRules() {
	for vf := range k.rnic.VFs {
		// A card that answers nobody keeps them, which is the test's result and no failure of the laboratory.
		_ = k.engine.DeleteFilters(k.host, k.rnic.Representor(vf))
	}
}

// release stops a load's containers so far apart, and releases the VF of each when it has stopped. A host that stands still or boots stops none:
// then the test goes on after a while.
func (k *card) release(load *engine.Load, apart time.Duration) {
	load.StopContainers(apart)
	step := min(apart, engine.MaxStep)
	for passed := time.Duration(0); load.Running() && passed < mostVFs*apart+longestRelease; passed += step {
		if passed > mostVFs*apart {
			step = engine.MaxStep
		}
		k.step(step)
		for _, container := range k.gate.waiting {
			k.engine.Released(container)
		}
		k.gate.waiting = k.gate.waiting[:0]
	}
}

// settle lets the card work off what a test has left on it, and gives the next one rules of its own.
func (k *card) settle(c configuration) {
	k.firstMask += max(c.masksEgress, c.masksIngress)
	k.step(betweenTests)
}

// symptoms are those of the card that have begun, without those of which nobody is wrong who denies them.
func (k *card) symptoms(judge *truth.Judge) []string {
	found := []string{}
	for _, v := range judge.Take() {
		if v.To == nil && !v.Marginal && v.RNIC == k.rnic && !slices.Contains(found, v.Symptom) {
			found = append(found, v.Symptom)
		}
	}
	slices.Sort(found)
	return found
}

var errNoModel = errors.New("--model is missing; --list lists the models")
