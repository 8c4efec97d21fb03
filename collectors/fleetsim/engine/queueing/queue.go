// Package queueing is how the packet queues of an RNIC fill and how queue pairs divide its bandwidth (paper, section 4.2 "Packet Queuing": packets
// wait in front of the flow tables, and the queued packets of all flows bear the queries together).
//
// Each direction of a card has a queue in front of its mask chain. It fills when more is asked for than the chain and the PCIe link let
// through. Packets to be sent wait in the host's memory, so nothing is lost there; the port counts that it has to wait. Packets
// received wait in a buffer of the card. While it fills, packets are marked and their senders slow down (ECN, CNP); when that is
// not enough the card asks the wire to pause, and what comes before the pause acts is discarded, and its senders repeat it.
// The paper gives no sizes and no control laws: all numbers here are assumed.
package queueing

import "math"

const (
	packetBuffer = 1 << 20 // bytes of the receive buffer
	meanPacket   = 4096.0  // bytes
	// marksFrom is the share of the buffer from which packets are marked. A queue that marks keep in check stands there.
	marksFrom = 0.3
	// marksHold is the demand, as a multiple of what is let through, up to which marks keep the buffer from being full.
	marksHold = 1.5
	// overshoot is the share of the excess beyond that which senders send before their next mark reaches them.
	overshoot = 0.02
	// LatePauses is the share of the overflow that arrives before the pause acts.
	LatePauses = 0.1
	// PauseUs is how long one pause lasts, in microseconds.
	PauseUs = 10.0
)

// Queue is one direction's queue in the present step.
type Queue struct {
	Fill     float64 // share of the buffer
	WaitUs   float64 // of a packet that arrives
	Overflow float64 // share of the arriving packets that find the buffer full
}

// NewQueue is the queue of a direction whose demand is want and which lets capacity through, both in Gbit/s.
func NewQueue(want, capacity float64) Queue {
	if want <= 0 || capacity <= 0 {
		return Queue{}
	}
	const serviceBits = meanPacket * 8
	var q Queue
	if load := want / capacity; load < 1 {
		// Random arrivals, equal packets (M/D/1): below saturation packets hardly wait.
		waiting := load * load / (2 * (1 - load)) * meanPacket
		q.Fill = math.Min(waiting/packetBuffer, marksFrom)
	} else {
		q.Fill = marksFrom + (1-marksFrom)*math.Min(1, (load-1)/(marksHold-1))
		q.Overflow = overshoot * math.Max(0, 1-marksHold/load)
	}
	q.WaitUs = q.Fill * packetBuffer / meanPacket * serviceBits / (capacity * 1e3)
	return q
}
