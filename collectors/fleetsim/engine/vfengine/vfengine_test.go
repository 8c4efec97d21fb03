package vfengine

import (
	"math"
	"testing"
	"time"
)

func card() *Card {
	return &Card{PacketRate: 10e6, ByteRate: 5e9, QueuePackets: 4096, QueueBytes: 4 << 20, PCIeRate: 25e9, SendPlaces: 1024, SendRate: 5e9}
}

// run is the total of each function over a second, and what it waited longest.
func run(c *Card, demands []Demand) (sums []Service, last Load) {
	sums, out := make([]Service, len(demands)), make([]Service, len(demands))
	for range int(time.Second / MaxStep) {
		last = c.Step(demands, MaxStep, out)
		for i, s := range out {
			sums[i].Received += s.Received
			sums[i].Discarded += s.Discarded
			sums[i].Sent += s.Sent
			sums[i].Held += s.Held
			sums[i].ReceiveWait = math.Max(sums[i].ReceiveWait, s.ReceiveWait)
			sums[i].SendWait = math.Max(sums[i].SendWait, s.SendWait)
		}
	}
	return sums, last
}

func TestBelowItsCapacityTheEngineLosesNothingAndNobodyWaits(t *testing.T) {
	sums, load := run(card(), []Demand{{Receive: 4e6, ReceiveSize: 64}, {Receive: 100e3, ReceiveSize: 1500}})
	if load.Engine() >= 1 || sums[0].Discarded+sums[1].Discarded != 0 || sums[0].ReceiveWait > 2e-6 {
		t.Errorf("load %+v, services %+v", load, sums)
	}
	if math.Abs(sums[1].Received-100e3) > 1 {
		t.Errorf("%g of 100,000 packets were received", sums[1].Received)
	}
}

func TestAStormOfSmallPacketsDiscardsWhatArrivesInProportionAndDelaysEverybodyAlike(t *testing.T) {
	demands := []Demand{{Receive: 20e6, ReceiveSize: 64}, {Receive: 100e3, ReceiveSize: 500}}
	sums, load := run(card(), demands)
	if load.Packets < 2 || load.Bytes > load.Packets/5 {
		t.Fatalf("packets should bind: %+v", load)
	}
	storm, quiet := sums[0].Discarded/20e6, sums[1].Discarded/100e3
	if storm < 0.5 || math.Abs(storm-quiet) > 0.02 {
		t.Errorf("the storm loses %.3f of its packets, the quiet function %.3f: want the same share", storm, quiet)
	}
	if wait := sums[1].ReceiveWait; wait < 300e-6 || wait > 600e-6 { // 4,096 places at about 9 million packets per second
		t.Errorf("a packet of the quiet function waits %.0f us", wait*1e6)
	}
	if got := sums[0].Received + sums[0].Discarded; math.Abs(got-20e6) > 4096 {
		t.Errorf("%g packets of 20 million are accounted for", got)
	}
}

func TestABurstOfLargePacketsBindsBytes(t *testing.T) {
	_, load := run(card(), []Demand{{Receive: 1e6, ReceiveSize: 6000}, {Receive: 100e3, ReceiveSize: 500}})
	if load.Bytes < 1 || load.Packets > 0.2 || load.Stalled != 0 {
		t.Errorf("bytes should bind: %+v", load)
	}
}

func TestANarrowPCIeLinkStallsWritesBeforeTheEngineIsBusy(t *testing.T) {
	c := card()
	c.PCIeRate = 1e9
	sums, load := run(c, []Demand{{Receive: 300e3, ReceiveSize: 4000}, {Receive: 10e3, ReceiveSize: 500}})
	if load.Engine() > 0.5 || load.PCIe < 1.1 || load.Stalled == 0 || sums[1].Discarded == 0 {
		t.Errorf("load %+v, services %+v", load, sums)
	}
}

func TestAShaperThatKeepsItsPacketsInTheSendBufferSlowsTheOthersToItsPace(t *testing.T) {
	demands := []Demand{
		{Send: 100e3, SendSize: 1400, Shaper: 1.25e6}, // 10 Mbit/s of 1.1 Gbit/s
		{Send: 100e3, SendSize: 1400},
	}
	sums, load := run(card(), demands)
	if load.SendBlocked < 0.9 || sums[1].Sent > 5000 || sums[1].Held < 90e3 || sums[1].SendWait < 0.1 {
		t.Errorf("load %+v, services %+v: the second function should be held at the shaper's 893 packets per second", load, sums)
	}
	if math.Abs(sums[0].Sent-893) > 20 {
		t.Errorf("the shaper let %g packets through", sums[0].Sent)
	}
	c := card()
	run(c, demands)
	demands[0].Send = 0
	if _, load := run(c, demands); load.SendBlocked != 0 {
		t.Errorf("without the demand the buffer still blocks: %+v", load)
	}
}

func TestSoftInterruptsWithoutTimeDropAndDelayWhoeverNeedsThem(t *testing.T) {
	s := Softirq{PacketRate: 1e6, Backlog: 1000}
	out := make([]Handled, 2)
	var handled, dropped [2]float64
	for range 100 {
		if load := s.Step([]float64{20e3, 100}, 0.01, out); load < 1.9 {
			t.Fatalf("load %g", load)
		}
		for i, h := range out {
			handled[i] += h.Handled
			dropped[i] += h.Dropped
		}
	}
	if out[1].Wait < 1e-3 || dropped[1] < 2000 || math.Abs(handled[0]+handled[1]-1e6) > 1 {
		t.Errorf("handled %v, dropped %v, wait %g", handled, dropped, out[1].Wait)
	}
	if s.Step([]float64{100, 100}, 0.01, out); out[1].Dropped != 0 {
		t.Errorf("a calm step drops %g packets", out[1].Dropped)
	}
}

func TestAGuaranteeIsServedBeforeTheRestIsSharedMaxMin(t *testing.T) {
	// The card sends 5e9 bytes/s. The storm wants all of that and twice more, function 1 its guarantee of 1e9, and function 2 has none.
	demands := []Demand{{Send: 10e6, SendSize: 1500}, {Send: 1e6, SendSize: 1000}, {Send: 5e6, SendSize: 1000}}
	sums, _ := run(card(), demands)
	if got := sums[1].Sent * 1000; got > 0.3e9 {
		t.Fatalf("without a guarantee function 1 sends %g bytes of 1e9: want it to lose what the others lose", got)
	}
	demands[1].Guaranteed = 1e9
	sums, load := run(card(), demands)
	for i, want := range []float64{2e9, 1e9, 2e9} {
		if got := sums[i].Sent * demands[i].SendSize; math.Abs(got-want) > 1e-6*want {
			t.Errorf("function %d sends %g bytes, want %g", i, got, want)
		}
	}
	if sums[1].SendWait != 0 || sums[0].SendWait == 0 || load.SendBlocked < 0.5 {
		t.Errorf("waits %g and %g s, blocked %g", sums[1].SendWait, sums[0].SendWait, load.SendBlocked)
	}
	demands[0].Guaranteed, demands[2].Guaranteed = 4e9, 5e9 // twice what there is
	sums, _ = run(card(), demands)
	if got := sums[1].Sent * 1000; math.Abs(got-0.5e9) > 1 {
		t.Errorf("of oversubscribed guarantees function 1 gets %g bytes, want half of its own", got)
	}
}
