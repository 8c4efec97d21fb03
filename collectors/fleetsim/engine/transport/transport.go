// Package transport is what the transport engine of an RNIC does with streams of RDMA (Lumina, SIGCOMM '23, section 6): how a port lends the
// bandwidth of its traffic classes, what losses of read responses do to the pipeline that all connections share, and what the start of
// connections costs. Which card does which is in rnicmodel; nothing here knows of models, counters or behaviours.
package transport

import "math"

// Class is one traffic class of a port that sends.
type Class struct {
	Guarantee float64 // share of the port
	Demand    float64 // Gbit/s
}

// Select divides a port among classes (IEEE 802.1Qaz): each gets its guarantee as far as it needs it, and what is left is lent in proportion to
// the guarantees, unless the card lends nothing. A class without a guarantee has what is left after that.
func Select(classes []Class, portGbps float64, lends bool) []float64 {
	granted := make([]float64, len(classes))
	left := portGbps
	for i, c := range classes {
		granted[i] = math.Min(c.Demand, c.Guarantee*portGbps)
		left -= granted[i]
	}
	for lends && left > 1e-9 {
		weight := 0.0
		for i, c := range classes {
			if c.Demand > granted[i]+1e-9 {
				weight += c.Guarantee
			}
		}
		if weight == 0 {
			break
		}
		lent := 0.0
		for i, c := range classes {
			if c.Demand > granted[i]+1e-9 {
				more := math.Min(c.Demand-granted[i], left*c.Guarantee/weight)
				granted[i] += more
				lent += more
			}
		}
		if left -= lent; lent < 1e-9 {
			break
		}
	}
	for i, c := range classes {
		if c.Guarantee == 0 {
			granted[i] = math.Max(0, math.Min(c.Demand, left))
			left -= granted[i]
		}
	}
	return granted
}

// A receiver repairs losses of read responses in contexts of a slow path. As long as each connection that has lost something finds one, nobody
// else notices. When there are more, the pipeline stands until time-outs have freed them (430 ms in Lumina's Figure 11), and what arrives
// meanwhile is dropped once the buffer is full.
const (
	stallSeconds  = 0.43
	dropsPerStall = 107.0
)

// Stall is what a pipeline that stands does to all who use it.
type Stall struct {
	Share           float64 // of the time for which the pipeline stands
	DropsPerSecond  float64
	TimeoutsPerQPps float64 // time-outs per second of each connection that waits without having lost anything
}

// StallOf is the stall of a slow path with so many contexts (0 has none to run out of) when so many connections lose responses at this rate each.
func StallOf(contexts, losing int, lossesPerSecond float64) Stall {
	if contexts == 0 || losing <= contexts || lossesPerSecond <= 0 {
		return Stall{}
	}
	// Each round of losses stands for stallSeconds; rounds that come faster follow each other without a pause.
	rounds := math.Min(lossesPerSecond, 1/stallSeconds)
	return Stall{Share: math.Min(1, rounds*stallSeconds), DropsPerSecond: rounds * dropsPerStall, TimeoutsPerQPps: rounds}
}

// Connections whose first packets ask for a path migration (MigReq 0) are set up in a slow path of the receiver. It takes some at a time; the
// packets of the others find no place meanwhile (about 500 of 16 connections in Lumina, section 6.2.3).
const (
	setUpTogether    = 15
	dropsPerOverflow = 31.0
)

// StartDrops are the packets that a receiver drops when so many connections start together.
func StartDrops(connections int) float64 {
	if connections <= setUpTogether {
		return 0
	}
	return dropsPerOverflow * float64(connections)
}
