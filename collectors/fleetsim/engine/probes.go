package engine

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// Probes are what the agents of two hosts send each other through a VF: their round trip is what a packet of the VF would need.

const (
	probePeriod  = 20 * time.Millisecond
	probeMemory  = time.Second // the window of the file of delays
	probeBaseUs  = 12.0        // without anything to wait for
	probeSpread  = 0.15        // sigma of the logarithm
	slowestProbe = 1e6         // us; what is slower was given up
)

// probes are the round trips of the last probeMemory.
type probes struct {
	next    time.Duration
	results []probe
}

type probe struct {
	at time.Duration
	us float64
}

// Delay has the quantiles of a VF's probes in the last second.
type Delay struct {
	P50Us, P99Us float64
	Count        int
}

// probe sends one when it is time; one that is discarded on its way has no result.
func (t *tenant) probe(share *VFShare, now time.Duration, rng *rand.Rand) {
	if now < t.probes.next {
		return
	}
	t.probes.next = now + probePeriod
	noise, luck := rng.NormFloat64(), rng.Float64()
	if t.container == nil || !t.rnic.forwards() {
		return
	}
	wait := share.Service.ReceiveWait + share.Service.SendWait
	lost := share.Service.Discarded / math.Max(share.Service.Discarded+share.Service.Received, 1e-9)
	if share.Kernel {
		wait += share.CPU.Wait
		lost = 1 - (1-lost)*(1-share.CPU.Dropped/math.Max(share.CPU.Dropped+share.CPU.Handled, 1e-9))
	}
	if luck < lost {
		return
	}
	us := probeBaseUs*math.Exp(probeSpread*noise) + (wait+t.pausedFor(now).Seconds())*1e6
	t.probes.results = append(t.probes.results, probe{now, math.Min(us, slowestProbe)})
}

// pausedFor is how long the guest will still not get the CPU.
func (t *tenant) pausedFor(now time.Duration) time.Duration {
	every, length := t.spec.Pauses.Every.Std(), t.spec.Pauses.For.Std()
	if every == 0 {
		return 0
	}
	// The first pause comes after the first period.
	if since := now % every; now >= every && since < length {
		return length - since
	}
	return 0
}

// last are the delays of the last second.
func (p *probes) last(now time.Duration) (Delay, bool) {
	p.results = slices.DeleteFunc(p.results, func(result probe) bool { return result.at <= now-probeMemory })
	if len(p.results) == 0 {
		return Delay{}, false
	}
	us := make([]float64, len(p.results))
	for i, result := range p.results {
		us[i] = result.us
	}
	slices.Sort(us)
	at := func(q float64) float64 { return us[min(len(us)-1, int(math.Ceil(q*float64(len(us))))-1)] }
	return Delay{P50Us: at(0.5), P99Us: at(0.99), Count: len(us)}, true
}
