package vfengine

import "math"

// Softirq is the CPU time that a host has for received packets which its kernel handles: those of functions without a driver of their own in
// the container. It is one queue per host, served in order.
type Softirq struct {
	// PacketRate is what the cores that take interrupts handle per second.
	PacketRate float64
	// Backlog is the number of packets that may wait (net.core.netdev_max_backlog).
	Backlog float64

	queued []float64 // packets by function
}

// Handled is what came of a function's packets.
type Handled struct {
	Handled, Dropped float64 // packets
	Wait             float64 // of a packet that came now, in seconds
}

// Step handles what arrived of each function, in packets, and returns which part of the CPU time that was asked for is there: 1 is all of it.
func (s *Softirq) Step(arrived []float64, seconds float64, out []Handled) (load float64) {
	for len(s.queued) < len(arrived) {
		s.queued = append(s.queued, 0)
	}
	total, came := 0.0, 0.0
	for i, packets := range arrived {
		s.queued[i] += packets
		total += s.queued[i]
		came += packets
	}
	served := 1.0
	if total > 0 {
		served = math.Min(1, s.PacketRate*seconds/total)
	}
	left := total * (1 - served)
	lost := math.Max(0, left-s.Backlog)
	wait := math.Min(left, s.Backlog) / s.PacketRate
	load = came / (s.PacketRate * seconds)
	busy := math.Min(load, 0.99)
	for i, packets := range arrived {
		out[i] = Handled{Handled: s.queued[i] * served, Wait: wait + busy/(2*(1-busy))/s.PacketRate}
		s.queued[i] -= out[i].Handled
		if came > 0 {
			out[i].Dropped = math.Min(s.queued[i], lost*packets/came)
			s.queued[i] -= out[i].Dropped
		}
	}
	return load
}
