package engine

import "math"

// The packet queues (paper, section 4.2 "Packet Queuing": packets wait in front of the flow tables, and the queued packets of all flows
// bear the queries together).
//
// Each direction of a card has a queue in front of its mask chain. It fills when more is asked for than the chain and the PCIe link let
// through. Packets to be sent wait in the host's memory, so nothing is lost there; the port counts that it has to wait. Packets
// received wait in a buffer of the card. While it fills, packets are marked and their senders slow down (ECN, CNP); when that is
// not enough the card asks the wire to pause, and what comes before the pause acts finds no place: it is discarded, and its senders
// repeat it. The paper gives no sizes and no control laws: all numbers here are assumed.
const (
	packetBuffer = 1 << 20 // bytes of the receive buffer
	meanPacket   = 4096.0  // bytes
	// marksFrom is the share of the buffer from which packets are marked. A queue that marks keep in check stands there.
	marksFrom = 0.3
	// marksHold is the demand, as a multiple of what is let through, up to which marks keep the buffer from being full.
	marksHold = 1.5
	// overshoot is the share of the excess beyond that which senders send before their next mark reaches them.
	overshoot = 0.02
	// latePauses is the share of what a full buffer meets that comes before the pause acts.
	latePauses = 0.1
	// pauseTime is how long one pause lasts, in microseconds.
	pauseTime = 10.0
)

// packetQueue is one direction's queue in the present step.
type packetQueue struct {
	fill     float64 // share of the buffer
	waitUs   float64 // of a packet that arrives
	overflow float64 // share of the arriving packets that find the buffer full
}

// newPacketQueue is the queue of a direction that is asked for want and lets capacity through, both in Gbit/s.
func newPacketQueue(want, capacity float64) packetQueue {
	if want <= 0 || capacity <= 0 {
		return packetQueue{}
	}
	const serviceBits = meanPacket * 8
	var q packetQueue
	if load := want / capacity; load < 1 {
		// Random arrivals, equal packets (M/D/1): below saturation hardly anybody waits.
		waiting := load * load / (2 * (1 - load)) * meanPacket
		q.fill = math.Min(waiting/packetBuffer, marksFrom)
	} else {
		q.fill = marksFrom + (1-marksFrom)*math.Min(1, (load-1)/(marksHold-1))
		q.overflow = overshoot * math.Max(0, 1-marksHold/load)
	}
	q.waitUs = q.fill * packetBuffer / meanPacket * serviceBits / (capacity * 1e3)
	return q
}

// marked is how many packets a full receive queue marks in so many seconds.
func (l *load) marked(seconds float64) float64 { return (1 - l.scale) * 1000 * seconds }

// marksPerNotification: a receiver notifies a sender once for several packets that were marked.
const marksPerNotification = 5

// notify books the notifications that the receiver's queue sends to this connection's sender: as many of all as it has of the traffic.
func (c *connection) notify(seconds float64) {
	if c.egress == nil || c.ingress == nil || c.dst.RNIC.in.scale >= 1 {
		return
	}
	in := &c.dst.RNIC.in
	c.src.RNIC.Counters.CNPHandled += in.marked(seconds) / marksPerNotification * c.rateGbps / in.capacity
}

// receive books what the queue in front of the decapsulation chain does to packets of a connection that are on their way through it.
func (c *connection) receive(packets float64) {
	if c.ingress == nil || c.dst.RNIC.in.queue.overflow == 0 {
		return
	}
	discarded := packets * c.dst.RNIC.in.queue.overflow * latePauses
	c.dst.RNIC.Counters.Discards += discarded
	c.lose(discarded)
}

// Of the packets that a connection loses, so many are seen by their receiver as a gap that it answers with a negative acknowledgement,
// start an adaptive retransmission, or are noticed by the sender's timer only. Assumed.
const (
	negativelyAcknowledged = 0.5
	adaptivelyRepeated     = 0.1
	timedOut               = 0.02
)

// lose counts packets of a connection that were lost on their way to a simulated receiver. Counted as sent are packets that arrive.
func (c *connection) lose(packets float64) {
	if c.ingress == nil || packets <= 0 {
		return
	}
	c.dst.RNIC.Counters.OutOfSequence += packets
	if c.egress != nil {
		sender := &c.src.RNIC.Counters
		sender.PacketSeqErr += packets * negativelyAcknowledged
		sender.AdaptiveRetrans += packets * adaptivelyRepeated
		sender.AckTimeouts += packets * timedOut
	}
}

// queueCounters books the step's pauses, waits and marks.
func (r *RNIC) queueCounters(seconds float64) {
	c := &r.Counters
	if r.out.scale < 1 {
		c.XmitWait += (1 - r.out.scale) * seconds * 1e6
	}
	marked := r.in.marked(seconds)
	c.ECNMarked += marked
	c.CNPSent += marked / marksPerNotification
	if overflow := r.in.queue.overflow; overflow > 0 {
		paused := overflow * (1 - latePauses) * seconds * 1e6
		c.PausedUs += paused
		c.Pauses += paused / pauseTime
		c.NearlyFull += seconds / (pauseTime * 1e-6) * overflow
	}
}

// LatencyUs is the mean time that packets of a direction need through the cards of both ends, with what they wait in this one's queue.
// It is 0 while nothing is on its way.
func (r *RNIC) LatencyUs(d Direction) float64 {
	l := &r.out
	if d == Ingress {
		l = &r.in
	}
	if l.want == 0 {
		return 0
	}
	return l.inFlight/l.want + l.queue.waitUs
}
