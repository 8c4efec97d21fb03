package transport

import (
	"net/netip"
	"time"
)

// connection is one reliable connection. Packets are numbered from 0; PSNs count from the requester's first one, in both directions of data.
type connection struct {
	s                          *simulation
	index                      int
	requesterQPN, responderQPN uint32
	first                      uint32
	requesterIP, responderIP   netip.Addr
	sourcePort                 uint16
	total                      int

	// The sender of data: the requester, or the responder of READ.
	next, acknowledged, limit int
	pumping, reacting         bool
	retries                   int
	timer                     int // the timer that is armed; others have been stopped
	pending                   *Resent
	goBacks                   int

	// The receiver of data.
	expected int
	asked    bool // a NACK is out, or a repeated request
	trigger  *seen

	// The switch.
	iteration, lastSeen int

	requested   int // READ: how much the requester has asked for
	begun       []time.Duration
	completions []float64
	failed      bool
}

// seen is a packet at the mirror.
type seen struct {
	frame int
	at    time.Duration
}

func (c *connection) reads() bool { return c.s.traffic.Verb == "read" }

// sender and receiver are those of data.
func (c *connection) sender() *host {
	if c.reads() {
		return c.s.responder
	}
	return c.s.requester
}

func (c *connection) receiver() *host {
	if c.reads() {
		return c.s.requester
	}
	return c.s.responder
}

func (c *connection) psn(number int) uint32 { return (c.first + uint32(number)) & psnMask } //nolint:gosec // positive

// toward makes a packet to the responder or the requester.
func (c *connection) toward(responder bool, opcode byte, number int) *packet {
	p := &packet{from: c.requesterIP, to: c.responderIP, qpn: c.responderQPN, sourcePort: c.sourcePort, opcode: opcode, psn: c.psn(number)}
	if !responder {
		p.from, p.to, p.qpn = c.responderIP, c.requesterIP, c.requesterQPN
	}
	return p
}

func (c *connection) begin() { c.post() }

// post gives the RNIC as many messages as may be outstanding.
func (c *connection) post() {
	per, t := c.s.perMessage, c.s.traffic
	for len(c.begun) < t.Messages && len(c.begun) < len(c.completions)+t.TxDepth {
		c.begun = append(c.begun, c.s.now)
		end := len(c.begun) * per
		if c.reads() {
			c.request(end-per, end)
			continue
		}
		c.limit = end
		c.pump()
	}
}

// request asks for responses [from, to).
func (c *connection) request(from, to int) {
	p := c.toward(true, opReadRequest, from)
	p.length = uint32(min((to-from)*c.s.traffic.MTU, c.s.traffic.MessageSize)) //nolint:gosec // at most 2 GB
	repeated := from < c.requested
	c.requested = max(c.requested, to)
	var at seen
	c.s.send(c.s.requester, c.s.responder, p, func() action {
		at = seen{c.s.frames + 1, c.s.now}
		return actNone
	}, func(int, time.Duration, bool) {
		c.s.responder.firstPacket(c.index, p.migReq, c.s.now)
		if repeated {
			c.s.responder.bump("duplicate_request")
		}
		c.requestArrived(from, to, at)
	})
	c.arm()
}

func (c *connection) requestArrived(from, to int, at seen) {
	if from >= c.limit {
		c.limit = to
		c.pump()
		return
	}
	if c.reacting {
		return
	}
	c.limit = max(c.limit, to)
	c.goBackAfter(c.sender().profile.nackReaction, from, c.trigger, at)
}

// goBackAfter sends from a packet again once the sender has reacted to a NACK.
func (c *connection) goBackAfter(reaction time.Duration, from int, trigger *seen, nack seen) {
	c.reacting = true
	resent := &Resent{Kind: "timeout"}
	if trigger != nil {
		generation := (nack.at - trigger.at).Nanoseconds()
		resent = &Resent{Kind: "nack", FrameNACK: &nack.frame, FrameTrig: &trigger.frame, Generation: &generation, nackAt: nack.at}
	}
	c.s.after(reaction, func() { c.goBack(from, resent) })
}

func (c *connection) goBack(from int, resent *Resent) {
	c.reacting = false
	if from >= c.next {
		return // it had not been sent yet
	}
	resent.target = from
	c.pending, c.next = resent, from
	c.goBacks++
	if !c.reads() {
		c.arm()
	}
	c.pump()
}

// pump sends the next packet, and goes on when the port is free.
func (c *connection) pump() {
	if c.pumping || c.failed || c.next >= c.limit {
		return
	}
	c.pumping = true
	number := c.next
	c.next++
	p := c.data(number)
	c.s.send(c.sender(), c.receiver(), p, func() action { return c.pass(number) }, func(frame int, at time.Duration, damaged bool) {
		c.arrived(number, p, seen{frame, at}, damaged)
	})
	if !c.reads() {
		c.arm()
	}
	c.s.at(c.sender().free, func() {
		c.pumping = false
		c.pump()
	})
}

func (c *connection) data(number int) *packet {
	t := c.s.traffic
	place, last := number%c.s.perMessage, c.s.perMessage-1
	kinds := [4]byte{opWriteFirst, opWriteMiddle, opWriteLast, opWriteOnly}
	switch {
	case c.reads():
		kinds = [4]byte{opResponseFirst, opResponseMiddle, opResponseLast, opResponseOnly}
	case t.Verb == "send":
		kinds = [4]byte{opSendFirst, opSendMiddle, opSendLast, opSendOnly}
	}
	kind := kinds[1]
	switch {
	case last == 0:
		kind = kinds[3]
	case place == 0 || (c.reads() && c.pending != nil && c.pending.target == number && place != last):
		kind = kinds[0]
	case place == last:
		kind = kinds[2]
	}
	p := c.toward(!c.reads(), kind, number)
	p.payload = t.MTU
	if place == last {
		p.payload = t.MessageSize - last*t.MTU
		p.ackRequest = !c.reads()
	}
	p.length, p.syndrome = uint32(t.MessageSize), ackSyndrome //nolint:gosec // at most 2 GB
	return p
}

// pass is a data packet at the switch: it counts iterations, notes a retransmission, and says what happens to the packet.
func (c *connection) pass(number int) action {
	if number <= c.lastSeen {
		c.iteration++
	}
	c.lastSeen = number
	what := c.s.injected[target{c.index, number, c.iteration}]
	if r := c.pending; r != nil && r.target == number {
		c.pending = nil
		c.trigger = nil // a new round
		r.PSN, r.QPN, r.Iteration, r.Frame = c.psn(number), c.data(number).qpn, 1+c.goBacks, c.s.frames+1
		if r.Kind == "nack" {
			reaction := (c.s.now - r.nackAt).Nanoseconds()
			r.Reaction = &reaction
		}
		c.s.result.Retransmissions = append(c.s.result.Retransmissions, r)
	}
	return what
}

// arrived is a data packet at its receiver.
func (c *connection) arrived(number int, p *packet, at seen, damaged bool) {
	h := c.receiver()
	h.firstPacket(c.index, p.migReq, c.s.now)
	if damaged {
		h.bump("rx_icrc_encapsulated")
		return
	}
	if p.marked {
		h.bump("np_ecn_marked_roce_packets")
		c.notify(cnpDelay)
	}
	switch {
	case number == c.expected:
		c.expected++
		c.asked = false
		c.inOrder(number)
	case number < c.expected:
		if !c.reads() && number%c.s.perMessage == c.s.perMessage-1 {
			c.answer(c.expected-1, ackSyndrome, nil)
		}
	default:
		if c.trigger == nil {
			trigger := at
			c.trigger = &trigger
		}
		if !c.asked {
			c.asked = true
			c.gap()
		}
	}
}

func (c *connection) inOrder(number int) {
	last := number%c.s.perMessage == c.s.perMessage-1
	if !c.reads() {
		if last {
			c.s.after(ackDelay, func() { c.answer(number, ackSyndrome, nil) })
		}
		return
	}
	c.retries = 0
	c.arm()
	if last {
		c.complete()
	}
}

// gap is the receiver's reaction to a packet behind one that is missing.
func (c *connection) gap() {
	h := c.receiver()
	missing := c.expected
	if c.reads() {
		h.bump("implied_nak_seq_err")
		h.hold(h.recovering, h.profile.readContexts, c.index, c.s.now, c.s.now+h.profile.readGeneration+c.sender().profile.nackReaction)
		c.timer++ // the recovery replaces the timer
		c.s.after(h.profile.readGeneration, func() {
			if c.expected == missing {
				c.repeatRequests()
			}
		})
		return
	}
	h.bump("out_of_sequence")
	trigger := c.trigger
	c.s.after(h.profile.nackGeneration, func() { c.answer(missing, nakSequence, trigger) })
	if h.profile.nackCNP && h.settings.RoCE.SlowRestart {
		c.notify(h.profile.nackGeneration + 300*time.Nanosecond)
	}
}

// repeatRequests asks for everything again that has been asked for and is missing.
func (c *connection) repeatRequests() {
	per := c.s.perMessage
	for from := c.expected; from < c.requested; from = (from/per + 1) * per {
		c.request(from, (from/per+1)*per)
	}
}

// answer sends an acknowledgement, or a NACK with the packet that triggered it.
func (c *connection) answer(number int, syndrome byte, trigger *seen) {
	p := c.toward(false, opAcknowledge, number)
	p.syndrome = syndrome
	var at seen
	c.s.send(c.s.responder, c.s.requester, p, func() action {
		at = seen{c.s.frames + 1, c.s.now}
		return actNone
	}, func(int, time.Duration, bool) {
		if syndrome == nakSequence {
			c.refused(number, trigger, at)
			return
		}
		c.acknowledge(number + 1)
	})
}

func (c *connection) refused(number int, trigger *seen, nack seen) {
	c.s.requester.bump("packet_seq_err")
	c.acknowledge(number)
	if c.reacting || number < c.acknowledged {
		return
	}
	c.timer++
	c.goBackAfter(c.s.requester.profile.nackReaction, number, trigger, nack)
}

func (c *connection) acknowledge(upTo int) {
	if upTo <= c.acknowledged {
		return
	}
	c.acknowledged = upTo
	c.retries = 0
	for len(c.completions) < len(c.begun) && (len(c.completions)+1)*c.s.perMessage <= upTo {
		c.complete()
	}
	c.arm()
	c.pump()
}

func (c *connection) complete() {
	c.completions = append(c.completions, micro(c.s.now-c.begun[len(c.completions)]))
	c.post()
}

// notify sends a CNP to the sender of data, if the limiter lets it.
func (c *connection) notify(delay time.Duration) {
	h := c.receiver()
	p := c.toward(c.reads(), opCNP, 0)
	p.psn = 0
	if !h.mayNotify(c.s.now, p.to, p.qpn) {
		return
	}
	h.bump("np_cnp_sent")
	c.s.result.Notifications++
	c.s.after(delay, func() {
		c.s.send(h, c.sender(), p, nil, func(int, time.Duration, bool) { c.sender().bump("rp_cnp_handled") })
	})
}

// arm restarts the requester's timer, or stops it when nothing is outstanding.
func (c *connection) arm() {
	c.timer++
	mine := c.timer
	outstanding := c.acknowledged < c.next
	if c.reads() {
		outstanding = c.expected < c.requested
	}
	if !outstanding || c.failed {
		return
	}
	c.s.after(c.s.requester.wait(c.s.traffic.Timeout, c.retries), func() {
		if c.timer == mine {
			c.expire()
		}
	})
}

func (c *connection) expire() {
	if c.retries > c.s.traffic.Retries {
		c.failed = true
		return
	}
	c.retries++
	c.s.requester.bump("local_ack_timeout_err")
	if c.s.requester.settings.RoCE.Adaptive {
		c.s.requester.bump("roce_adp_retrans")
	}
	if c.reads() {
		c.repeatRequests()
		return
	}
	c.goBack(c.acknowledged, &Resent{Kind: "timeout"})
}
