package engine

import (
	"math"
	"testing"
	"time"
)

const twoPorts = `
name: two ports
seed: 3
topology: {hosts: 2, rnics_per_host: 1, models: [CX-7], externals: 0, firmware: fixed}
workload:
  - {kind: training, containers: 1, flows: 8, gbps: 40}
events:
  - {at: 30s, for: 30s, host: host01, rnic: "0000:17:00.0", fault: lossy-transceiver, loss: 0.05}
`

func TestALossyTransceiverCostsThroughputAndIsMended(t *testing.T) {
	e := build(t, twoPorts, OpenAdmission{})
	sick, peer := e.rnics[0], e.rnics[1]
	step := func(d time.Duration) (gbps, repeated, corrupted float64) {
		before, errors := sick.Counters, sick.Counters.ReceiveErrors+peer.Counters.ReceiveErrors
		e.Step(d)
		now := sick.Counters
		gbps = (now.XmitBytes + now.RcvBytes - before.XmitBytes - before.RcvBytes) * 8 / 1e9 / d.Seconds()
		return gbps, now.PacketSeqErr - before.PacketSeqErr, sick.Counters.ReceiveErrors + peer.Counters.ReceiveErrors - errors
	}
	e.Step(20 * time.Second)
	healthy, repeated, corrupted := step(9 * time.Second)
	if healthy < 20 || repeated != 0 || corrupted != 0 {
		t.Fatalf("a good transceiver: %.1f Gbit/s, %g repeated, %g corrupted", healthy, repeated, corrupted)
	}
	e.Step(2 * time.Second)
	lossy, repeated, corrupted := step(20 * time.Second)
	// Go-back-N with 5 % of losses in a window of 64 packets leaves 0.95 / (0.95 + 0.05 * 64) = 23 %.
	if share := lossy / healthy; math.Abs(share-0.229) > 0.02 {
		t.Errorf("a lossy one leaves %.3f of the throughput, want 0.229", share)
	}
	if repeated < 1000 || corrupted < 1000 {
		t.Errorf("%g repeated, %g corrupted frames: want thousands", repeated, corrupted)
	}
	e.Step(10 * time.Second)
	if mended, _, corrupted := step(9 * time.Second); math.Abs(mended/healthy-1) > 0.1 || corrupted != 0 {
		t.Errorf("a mended one: %.1f of %.1f Gbit/s, %g corrupted", mended, healthy, corrupted)
	}
}
