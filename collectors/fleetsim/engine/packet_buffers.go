package engine

import "github.com/wallwatch/wallwatch/collectors/fleetsim/engine/queueing"

// What the queues (package queueing) do to counters and connections.

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
	if c.ingress == nil || c.dst.RNIC.in.queue.Overflow == 0 {
		return
	}
	discarded := packets * c.dst.RNIC.in.queue.Overflow * queueing.LatePauses
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
	if overflow := r.in.queue.Overflow; overflow > 0 {
		paused := overflow * (1 - queueing.LatePauses) * seconds * 1e6
		c.PausedUs += paused
		c.Pauses += paused / queueing.PauseUs
		c.NearlyFull += seconds / (queueing.PauseUs * 1e-6) * overflow
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
	return l.inFlight/l.want + l.queue.WaitUs
}
