package engine

import (
	"math"
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine/transport"
	"github.com/wallwatch/wallwatch/collectors/fleetsim/scenario"
)

// Streams are RDMA transfers between two cards whose transport engines matter (package transport). A card without streams has none of that: its
// flows are served as in traffic.go. They pass the ports and move their counters; the flow tables do not see them.

const (
	streamPacket = 4096.0 + 82 // bytes on the wire: the payload and the headers of RoCE v2
	notification = 82.0        // bytes of a congestion notification on the wire
	// notificationGap is the time between two notifications to one sender (Lumina, section 6.3: E810 about 50 us), when marks come all the time.
	notificationGap = 50e-6
	// slowedTo is what congestion control leaves of the demand of a stream of which one packet in 50 is marked, assumed; Figure 10 has 9 of 50.
	slowedTo = 0.18
	// noticePriority is that of notifications by default (cnp_802p_prio).
	noticePriority = 6
	messageBytes   = 1e6
	// adaptiveTries is how often a lost last packet is sent again before its answer comes (Lumina, section 6.3: 8 to 13 tries for 7).
	adaptiveTries = 1.5
)

// stream is one transfer, seen from who receives its data.
type stream struct {
	spec     scenario.Stream
	from, to *RNIC // of the data: those of a read go from the responder to the requester
	active   bool
	rate     float64 // Gbit/s
	// What each queue pair that loses packets, and each that loses none, has counted at the requester.
	lostEach, waitedEach, slowedEach float64
}

// requester is who posts the requests.
func (st *stream) requester() *RNIC {
	if st.spec.Verb == scenario.Read {
		return st.to
	}
	return st.from
}

// transports is what a card with streams has.
type transports struct {
	settings scenario.Transport
	// Counted by priority: what streams move. Flows have priority 3.
	Priorities [8]PriorityCounters
	queuePairs int
	streams    []*stream // of which the card is the requester
}

// PriorityCounters are those of one priority of a port.
type PriorityCounters struct{ XmitBytes, XmitPackets, RcvBytes, RcvPackets float64 }

// BoundCounters are the counters of one queue pair.
type BoundCounters struct{ SequenceErrors, AckTimeouts, CNPsHandled float64 }

func (e *Engine) planStreams(s *scenario.Scenario) {
	find := func(host, pci string) *RNIC {
		for _, r := range e.rnics {
			if r.Host.Name == host && r.PCI == pci {
				return r
			}
		}
		return nil // the scenario was checked
	}
	for _, spec := range s.Streams {
		st := &stream{spec: spec, from: find(spec.Host, spec.RNIC), to: find(spec.PeerHost, spec.PeerRNIC)}
		if spec.Verb == scenario.Read {
			st.from, st.to = st.to, st.from
		}
		e.streams = append(e.streams, st)
		for _, r := range []*RNIC{st.from, st.to} {
			if r.transports == nil {
				r.transports = &transports{}
			}
		}
		requester := st.requester().transports
		requester.streams = append(requester.streams, st)
	}
	for _, o := range s.Overrides {
		if r := find(o.Host, o.RNIC); r != nil && r.transports != nil {
			r.transports.settings = o.Transport
		}
	}
}

// Streams reports whether the card has streams at all.
func (r *RNIC) Streams() bool { return r.transports != nil }

// TransportSettings are what an administrator has set on a card with streams.
func (r *RNIC) TransportSettings() scenario.Transport { return r.transports.settings }

// Priority are the counters of one priority that streams moved.
func (r *RNIC) Priority(priority int) PriorityCounters { return r.transports.Priorities[priority] }

// QueuePairs is how many queue pairs a card with streams has.
func (r *RNIC) QueuePairs() int { return r.transports.queuePairs }

// BoundQueuePairs are the counters of the queue pairs, where an administrator has bound each to its own.
func (r *RNIC) BoundQueuePairs() []BoundCounters {
	var bound []BoundCounters
	if !r.transports.settings.CountQueuePairs {
		return nil
	}
	for _, st := range r.transports.streams {
		for qp := range st.spec.QueuePairs {
			if qp < st.spec.Losing {
				bound = append(bound, BoundCounters{SequenceErrors: st.lostEach, CNPsHandled: st.slowedEach})
			} else {
				bound = append(bound, BoundCounters{AckTimeouts: st.waitedEach, CNPsHandled: st.slowedEach})
			}
		}
	}
	return bound
}

// moveStreams moves all streams for a step.
func (e *Engine) moveStreams(dt time.Duration) {
	if len(e.streams) == 0 {
		return
	}
	for _, r := range e.rnics {
		if r.transports != nil {
			r.transports.queuePairs = 0
		}
	}
	for _, st := range e.streams {
		st.begin(e.now)
	}
	for _, r := range e.rnics {
		if r.transports != nil {
			r.selectStreams(e.streams, dt.Seconds())
		}
	}
	for _, r := range e.rnics {
		if r.transports != nil {
			r.receiveStreams(e.streams, dt.Seconds())
		}
	}
	for _, st := range e.streams {
		if st.active {
			st.count(dt.Seconds())
		}
	}
}

// begin opens and closes the stream's connections, and says what it would like to send.
func (st *stream) begin(now time.Duration) {
	was := st.active
	st.active = st.spec.Runs(now) && st.from.forwards() && st.to.forwards()
	st.rate = 0
	if !st.active {
		return
	}
	st.from.transports.queuePairs += st.spec.QueuePairs
	st.to.transports.queuePairs += st.spec.QueuePairs
	st.rate = st.spec.Gbps
	if st.spec.Marked > 0 && st.to.notifies() {
		st.rate *= slowedTo
	}
	if !was && st.from.Model.Transport.MigReqZero && st.to.Model.Transport.MigrationSlowPath {
		dropped := transport.StartDrops(st.spec.QueuePairs)
		st.to.Counters.Discards += dropped
		st.lose(dropped)
	}
}

// notifies reports whether the card answers marks.
func (r *RNIC) notifies() bool { return !r.transports.settings.NotificationPointOff }

// selectStreams divides the port of a card that sends among its traffic classes: a priority is a class of its own where guarantees are set.
func (r *RNIC) selectStreams(all []*stream, seconds float64) {
	guarantees := r.transports.settings.Guarantees
	classes := make([]transport.Class, max(len(guarantees), 1))
	for i := range guarantees {
		classes[i].Guarantee = guarantees[i] / 100
	}
	if len(guarantees) == 0 {
		classes[0].Guarantee = 1
	}
	class := func(st *stream) int {
		if st.spec.Priority < len(guarantees) {
			return st.spec.Priority
		}
		return 0
	}
	for _, st := range all {
		if st.active && st.from == r {
			classes[class(st)].Demand += st.rate
		}
	}
	granted := transport.Select(classes, r.Model.LineGbps, !r.Model.Transport.LendsNothing)
	for _, st := range all {
		if st.active && st.from == r && classes[class(st)].Demand > 0 {
			st.rate *= granted[class(st)] / classes[class(st)].Demand
		}
	}
	for i, c := range classes {
		if waiting := c.Demand - granted[i]; waiting > 1e-6 {
			r.Counters.XmitWait += waiting / c.Demand * seconds * 1e6
		}
	}
}

// receiveStreams is the pipeline of a card that receives: its link may be full, and its slow path run out of contexts.
func (r *RNIC) receiveStreams(all []*stream, seconds float64) {
	want, losing, losses := 0.0, 0, 0.0
	for _, st := range all {
		if !st.active || st.to != r {
			continue
		}
		want += st.rate
		if st.spec.Verb == scenario.Read && st.spec.Losing > 0 {
			losing += st.spec.Losing
			losses = math.Max(losses, st.spec.LossesPerSecond)
		}
	}
	overload := want / r.Model.LineGbps
	stall := transport.StallOf(r.Model.Transport.SlowPathContexts, losing, losses)
	r.Counters.Discards += stall.DropsPerSecond * seconds
	for _, st := range all {
		if !st.active || st.to != r {
			continue
		}
		if overload > 1 { // incast: what finds no place is dropped, and sent again
			dropped := (st.rate - st.rate/overload) * incastLoss * 1e9 / 8 / streamPacket * seconds
			st.rate /= overload
			r.Counters.Discards += dropped
			st.lose(dropped)
		}
		if stall.Share > 0 {
			innocent := st.spec.QueuePairs
			if st.spec.Verb == scenario.Read {
				innocent -= st.spec.Losing
			}
			st.rate *= 1 - stall.Share
			st.timeOut(stall.TimeoutsPerQPps * float64(innocent) * seconds)
			if st.spec.Verb != scenario.Read && losing > 0 {
				st.lose(stall.DropsPerSecond * seconds * float64(innocent) / float64(innocent+losing))
			}
		}
	}
}

// incastLoss is the share of what a full link cannot take that arrives before congestion control acts, assumed.
const incastLoss = 0.002

// lose counts packets of the stream that did not arrive: the receiver sees a gap, and asks for them again.
func (st *stream) lose(packets float64) {
	if packets <= 0 {
		return
	}
	if st.spec.Verb == scenario.Read {
		if !st.to.Model.Transport.ImpliedNaksUncounted {
			st.to.Counters.ImpliedNaks += packets
		}
		st.from.Counters.DuplicateRequests += packets
		return
	}
	st.to.Counters.OutOfSequence += packets
	st.from.Counters.PacketSeqErr += packets
}

// timeOut counts requests of the stream whose answer did not come in time.
func (st *stream) timeOut(times float64) {
	requester := st.requester()
	st.waitedEach += times / float64(max(st.spec.QueuePairs-st.spec.Losing, 1))
	requester.Counters.AckTimeouts += times
	if requester.Model.Transport.AdaptiveTimers && !requester.transports.settings.AdaptiveOff {
		requester.Counters.AdaptiveTimeouts += times
		requester.Counters.AdaptiveRetrans += times * adaptiveTries
	}
}

// count books what the stream moved in a step.
func (st *stream) count(seconds float64) {
	packets := st.rate * 1e9 / 8 / streamPacket * seconds
	st.from.sendStream(st.spec.Priority, packets*streamPacket, packets)
	st.to.takeStream(st.spec.Priority, packets*streamPacket, packets)
	messages := packets * streamPacket / messageBytes
	switch st.spec.Verb {
	case scenario.Read:
		st.from.Counters.ReadRequests += messages
	case scenario.Write:
		st.to.Counters.WriteRequests += messages
	}
	if st.spec.Losing > 0 {
		lost := st.spec.LossesPerSecond * seconds
		st.lostEach += lost
		st.lose(lost * float64(st.spec.Losing))
	}
	if st.spec.TailLossesPerSecond > 0 {
		st.timeOut(st.spec.TailLossesPerSecond * seconds)
	}
	st.mark(packets*st.spec.Marked, seconds)
}

// mark books packets that the network marked, and the notifications that follow.
func (st *stream) mark(marked, seconds float64) {
	if marked <= 0 {
		return
	}
	st.to.Counters.ECNMarked += marked
	if !st.to.notifies() {
		return
	}
	sent := math.Min(marked, seconds/notificationGap)
	if !st.to.Model.Transport.NotificationsUncounted {
		st.to.Counters.CNPSent += sent
	}
	st.from.Counters.CNPHandled += sent
	if st.from == st.requester() {
		st.slowedEach += sent / float64(st.spec.QueuePairs)
	}
	st.to.sendStream(noticePriority, sent*notification, sent)
	st.from.takeStream(noticePriority, sent*notification, sent)
}

func (r *RNIC) sendStream(priority int, bytes, packets float64) {
	r.Counters.XmitBytes += bytes
	r.Counters.XmitPackets += packets
	r.transports.Priorities[priority].XmitBytes += bytes
	r.transports.Priorities[priority].XmitPackets += packets
}

func (r *RNIC) takeStream(priority int, bytes, packets float64) {
	r.Counters.RcvBytes += bytes
	r.Counters.RcvPackets += packets
	r.transports.Priorities[priority].RcvBytes += bytes
	r.transports.Priorities[priority].RcvPackets += packets
}
