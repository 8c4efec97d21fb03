package engine

import (
	"fmt"
	"testing"
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/scenario"
)

// incast lets two hosts send to one card whose tenants have many masks, so that its chain lets less through than they send.
const incast = `
name: test
seed: 6
topology: {hosts: 2, rnics_per_host: 1, models: [CX-6], externals: 100, firmware: fixed}
workload:
  - {kind: training, containers: 2, flows: 20, gbps: 5}
events:
  - {at: 5s, host: host01, rnic: "0000:17:00.0", job: {kind: multi-tenant, containers: 8, flows: 720, masks: %d, late_share: %g, gbps: 140, ramp: 5s}}
`

func TestABufferBehindAMaskChainThatIsTooSlowPausesTheWireAndDiscards(t *testing.T) {
	e := build(t, fmt.Sprintf(incast, 90, 0.85), OpenAdmission{})
	run(e, 60*time.Second)
	r := e.rnics[0]
	c := r.Counters
	if c.Discards < 1000 || c.Pauses < 100 || c.PausedUs <= c.Pauses || c.XmitWait == 0 {
		t.Fatalf("counters of an overloaded card: %+v", c)
	}
	if c.OutOfSequence < c.Discards {
		t.Errorf("%.0f packets were discarded and %.0f gaps seen", c.Discards, c.OutOfSequence)
	}
	var answered float64
	for _, one := range e.rnics {
		answered += one.Counters.PacketSeqErr
	}
	if answered == 0 || answered > c.OutOfSequence {
		t.Errorf("%.0f negative acknowledgements for %.0f gaps", answered, c.OutOfSequence)
	}
	if full, empty := r.LatencyUs(Ingress), e.rnics[1].LatencyUs(Ingress); full < 10*empty || empty <= 0 {
		t.Errorf("packets need %.1f us into the overloaded card and %.1f us into the other one", full, empty)
	}
}

func TestAHealthyFleetDiscardsNothing(t *testing.T) {
	for _, name := range []string{"healthy", "noisy-healthy", "many-masks-little-traffic", "demo"} {
		s, err := scenario.Load("../../../tests/scenarios/" + name + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		e, err := New(s, OpenAdmission{})
		if err != nil {
			t.Fatal(err)
		}
		run(e, 45*time.Second) // demo's loads begin then
		for _, r := range e.rnics {
			if c := r.Counters; c.Discards+c.OutOfBuffer+c.Pauses > 0 || c.XmitPackets == 0 {
				t.Errorf("%s, %s %s: %.0f sent, %.0f discarded, %.0f out of buffer, %.0f pauses", name, r.Host.Name, r.PCI, c.XmitPackets, c.Discards,
					c.OutOfBuffer, c.Pauses)
			}
		}
	}
}

// slow lets one card send more than it can to two that take all of it. The first gives what its model does, or less.
const slow = `
name: test
seed: 6
topology: {hosts: 3, rnics_per_host: 1, models: [CX-6, CX-7, CX-7], externals: 0, firmware: fixed}
workload:
  - {kind: training, containers: 1, flows: 4, gbps: 1}
overrides:
  - {host: host01, rnic: "0000:17:00.0", bandwidth_share: %g}
events:
  - {at: 1s, host: host01, rnic: "0000:17:00.0", job: {kind: training, containers: 4, flows: 200, gbps: 500}}
`

func TestACardThatGivesLessThanItsModelLetsDataWaitAndNobodyNotifiesIt(t *testing.T) {
	sent := map[float64]float64{}
	for _, share := range []float64{1, 0.8} {
		e := build(t, fmt.Sprintf(slow, share), OpenAdmission{})
		run(e, 30*time.Second)
		r := e.rnics[0]
		before := r.Counters
		run(e, 30*time.Second)
		sent[share] = r.Counters.XmitBytes - before.XmitBytes
		if r.Counters.XmitWait == before.XmitWait || r.Counters.CNPHandled > before.CNPHandled {
			t.Errorf("at a share of %g data waited for %.0f ticks and %.0f notifications came", share, r.Counters.XmitWait-before.XmitWait,
				r.Counters.CNPHandled-before.CNPHandled)
		}
		if receiver := e.rnics[1].Counters; receiver.ECNMarked > 0 || receiver.XmitPackets == 0 {
			t.Errorf("a receiver that takes all: %+v", receiver)
		}
	}
	if ratio := sent[0.8] / sent[1]; ratio < 0.78 || ratio > 0.82 {
		t.Errorf("it sends %.0f %% of what its model sends", 100*ratio)
	}
}

func TestReceiversNotifyThoseWhoSendToThem(t *testing.T) {
	e := build(t, fmt.Sprintf(incast, 90, 0.85), OpenAdmission{})
	run(e, 60*time.Second)
	var sent, handled float64
	for _, r := range e.rnics {
		sent += r.Counters.CNPSent
		handled += r.Counters.CNPHandled
	}
	if e.rnics[1].Counters.CNPHandled == 0 || handled > sent*1.001 {
		t.Errorf("%.0f notifications were sent and %.0f handled, %.0f by the other card", sent, handled, e.rnics[1].Counters.CNPHandled)
	}
}
