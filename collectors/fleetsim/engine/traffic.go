package engine

import (
	"math"
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine/cpu"
	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine/queueing"
	"github.com/wallwatch/wallwatch/collectors/fleetsim/rnicmodel"
)

// How fast packets move (paper, section 4.2 and Table 3). The aggregated bandwidth of an RNIC follows from the mean mask lookups Q of
// the packets in flight, at this end and at the other; a single flow is also bound by its own latency, since its queue pairs keep
// a limited number of packets in flight. Flows that miss their entry share the slow path of the host.
const (
	// windowHeadroom is how much faster than its demand a flow's window would let it go with no queries to wait for. Assumed.
	windowHeadroom = 1.5
	// senderPersistence is how many packets a starved sender offers for each that gets through.
	senderPersistence = 1.2

	wireOverhead    = 50.0 // bytes of outer Ethernet, IPv4, UDP and VXLAN headers
	ethernetHeader  = 14.0 // left out by TC's byte counts
	noiseDeviation  = 0.015
	noisePersisting = 0.9
	controlPackets  = 5 // packets per second and container that the software datapath matches (ARP, connection management)
)

// load is what one direction of an RNIC has to carry in a step.
type load struct {
	want             float64 // Gbit/s
	inFlight, ql, qr float64 // packets in flight and their sums of queries
	scale            float64 // share of the whole demand that is granted
	capacity         float64 // Gbit/s that the chain and the link let through
	shares           queueing.Shares
	queue            queueing.Queue
}

func (l *load) add(want, latencyUs, ql, qr, queuePairs float64) {
	w := want * latencyUs // Little's law, up to a factor that the means do not see
	l.want += want
	l.shares.Add(want, queuePairs)
	l.inFlight += w
	l.ql += w * ql
	l.qr += w * qr
}

func (l *load) means() (ql, qr float64) {
	if l.inFlight == 0 {
		return 0, 0
	}
	return l.ql / l.inFlight, l.qr / l.inFlight
}

// grant settles which share of its demand a direction gets.
func (l *load) grant(p rnicmodel.Performance, noise, linkGbps float64) {
	l.scale = 1
	ql, qr := l.means()
	capacity := math.Min(p.BandwidthGbps(ql, qr)*noise, linkGbps)
	l.capacity = capacity
	if l.want > capacity {
		l.scale = capacity / l.want
	}
	l.shares.Settle(capacity)
	l.queue = queueing.NewQueue(l.want, capacity)
}

func (e *Engine) moveTraffic(dt time.Duration) {
	for _, h := range e.hosts {
		h.softwareFlows, h.copiedFlows = 0, 0
		h.processor.Begin()
	}
	for _, r := range e.rnics {
		r.out, r.in = load{}, load{}
		r.noise = noisePersisting*r.noise + math.Sqrt(1-noisePersisting*noisePersisting)*r.noiseDeviation*e.rng.NormFloat64()
	}
	e.addDemand(e.now)
	for _, c := range e.connections {
		if !c.ended {
			c.offer(e.now)
		}
	}
	for _, r := range e.rnics {
		r.out.grant(r.Model.Performance, 1+r.noise, r.pcieGbps())
		r.in.grant(r.Model.Performance, 1+r.noise, r.pcieGbps())
	}
	for _, c := range e.connections {
		if !c.ended {
			c.transfer(e.now, dt.Seconds())
		}
	}
	for _, r := range e.rnics {
		r.queueCounters(dt.Seconds())
		r.observeLoad(Egress, &r.out, dt.Seconds())
		r.observeLoad(Ingress, &r.in, dt.Seconds())
	}
}

// model is the card whose law bounds the connection: the sender's, or the receiver's where the sender is outside.
func (c *connection) model() rnicmodel.Performance {
	if c.src.RNIC != nil {
		return c.src.RNIC.Model.Performance
	}
	return c.dst.RNIC.Model.Performance
}

func (c *connection) window() (want, latencyUs, ql, qr float64) {
	ql, qr = c.positions()
	p := c.model()
	latencyUs = p.LatencyUs(ql, qr)
	return c.demandGbps * c.limited() * c.goodput() * math.Min(1, windowHeadroom*p.LatencyUs(0, 0)/latencyUs), latencyUs, ql, qr
}

// blocked reports whether the connection does not send: it rests, its sender does not get the CPU, or a card on the way forwards nothing, or
// somewhere else.
func (c *connection) blocked(now time.Duration) bool {
	if c.resting(now) || c.egress.misled() || c.ingress.misled() {
		return true
	}
	if r := c.src.RNIC; r != nil && (r.Host.Stalled(now) || !r.forwards()) {
		return true
	}
	return c.dst.RNIC != nil && !c.dst.RNIC.forwards()
}

func (c *connection) offer(now time.Duration) {
	switch {
	case c.blocked(now):
		return
	case c.offloaded():
	case c.copied():
		c.slowHost().copiedFlows++
		return
	default:
		c.slowHost().softwareFlows++
		return
	}
	want, latency, ql, qr := c.window()
	if c.egress != nil {
		c.src.RNIC.out.add(want, latency, ql, qr, c.queuePairs)
	}
	if c.ingress != nil {
		c.dst.RNIC.in.add(want, latency, ql, qr, c.queuePairs)
	}
}

// slowHost is the host whose switch has no entry for the connection's packets.
func (c *connection) slowHost() *Host {
	if c.egress != nil && !c.egress.served() && (c.egress.copy == nil || c.ingress == nil || c.ingress.served() || c.ingress.copy != nil) {
		return c.src.RNIC.Host
	}
	return c.dst.RNIC.Host
}

func (c *connection) transfer(now time.Duration, seconds float64) {
	switch {
	case c.blocked(now):
		c.rateGbps = 0
		return
	case c.offloaded():
	case c.copied():
		c.transferByCopy(now, seconds)
		return
	default:
		c.transferByUpcalls(now, seconds)
		return
	}
	want, latency, _, _ := c.window()
	scale := 1.0
	if c.egress != nil {
		scale = c.src.RNIC.out.shares.Of(c.queuePairs)
	}
	if c.ingress != nil {
		scale = math.Min(scale, c.dst.RNIC.in.shares.Of(c.queuePairs))
	}
	c.rateGbps = want * scale
	c.observeTransfer(latency)
	packets := c.rateGbps * 1e9 / 8 / c.packetSize * seconds
	c.notify(seconds)
	c.receive(packets)
	c.corrupt(packets)
	c.count(packets)
}

// transferByCopy sends by the flows that the software datapath has, and wakes those who would put the connection back into hardware.
func (c *connection) transferByCopy(now time.Duration, seconds float64) {
	h := c.slowHost()
	wanted := c.demandGbps * c.limited() * 1e9 / 8 / c.packetSize * seconds
	share := cpu.SoftwarePackets * seconds / float64(max(h.copiedFlows, 1))
	h.processor.Forwarding += math.Min(wanted, share) * cpu.SoftwareCost.Seconds() / seconds
	share *= h.processor.Share
	sent := math.Min(wanted, share)
	c.rateGbps = sent * c.packetSize * 8 / 1e9 / seconds
	h.Switch.softwareHits += sent
	c.dropInSoftware(h, math.Min(wanted, senderPersistence*share)-sent)
	c.callUp(sent, now)
	c.count(sent)
}

// dropInSoftware counts packets for which the kernel had no time: they wait at the port that they came from until there is no place.
func (c *connection) dropInSoftware(h *Host, packets float64) {
	if packets <= 0 {
		return
	}
	if r := c.src.RNIC; r != nil && r.Host == h {
		r.VFCounters[c.src.VF].XmitDropped += packets
	} else {
		c.dst.RNIC.Counters.OutOfBuffer += packets
	}
	c.lose(packets)
}

// transferByUpcalls sends over the slow path for as long as the missing entries will take to be installed, and at full
// speed for the rest of the step, if that is shorter.
func (c *connection) transferByUpcalls(now time.Duration, seconds float64) {
	h := c.slowHost()
	waiting := math.Min(seconds, c.installDelay().Seconds())
	perSecond := c.demandGbps * c.limited() * 1e9 / 8 / c.packetSize
	share := cpu.UpcallPackets * waiting / float64(max(h.softwareFlows, 1))
	h.processor.Handlers += math.Min(perSecond*waiting, share) * cpu.UpcallCost.Seconds() / seconds
	share *= h.processor.Share
	offered := math.Min(perSecond*waiting, senderPersistence*share)
	passed := math.Min(offered, share)
	sent := passed + perSecond*(seconds-waiting)
	c.rateGbps = sent * c.packetSize * 8 / 1e9 / seconds
	h.Switch.Missed += passed
	h.Switch.Lost += offered - passed
	c.lose(offered - passed)
	c.callUp(sent, now)
	c.count(sent)
}

// callUp lets packets that the hardware did not forward come to the switches.
func (c *connection) callUp(packets float64, now time.Duration) {
	if c.carry+packets < 1 { // only a whole packet makes an upcall
		return
	}
	if c.egress != nil {
		c.src.RNIC.Host.upcall(c.egress, now)
	}
	if c.ingress != nil {
		c.dst.RNIC.Host.upcall(c.ingress, now)
	}
}

// installDelay is how long a packet that misses now will wait for its entries.
func (c *connection) installDelay() time.Duration {
	delay := time.Duration(0)
	for _, e := range []*Entry{c.egress, c.ingress} {
		switch {
		case e == nil || e.served():
		case e.unnoticed:
			delay = MaxStep
		default:
			delay = max(delay, e.rnic.commandDelay())
		}
	}
	return delay
}

// count books whole packets on ports, VFs and on those entries that forwarded them.
func (c *connection) count(packets float64) {
	c.carry += packets
	whole := math.Floor(c.carry)
	if whole < 1 {
		return
	}
	c.carry -= whole
	wire, inner := whole*(c.packetSize+wireOverhead), whole*c.packetSize
	if r := c.src.RNIC; r != nil {
		r.Counters.XmitBytes += wire
		r.Counters.XmitPackets += whole
		r.VFCounters[c.src.VF].XmitBytes += inner
		r.VFCounters[c.src.VF].XmitPackets += whole
	}
	if r := c.dst.RNIC; r != nil {
		r.Counters.RcvBytes += wire
		r.Counters.RcvPackets += whole
		r.Counters.WriteRequests += inner / 1e6 // messages of 1 MB
		r.VFCounters[c.dst.VF].RcvBytes += inner
		r.VFCounters[c.dst.VF].RcvPackets += whole
	}
	for _, e := range []*Entry{c.egress, c.ingress} {
		switch { // one end may forward in hardware while the other does not
		case e == nil:
		case e.served():
			f := e.forwarder()
			f.hwPackets += whole
			f.hwBytes += whole * (c.packetSize - ethernetHeader)
		case e.copy != nil:
			e.copy.packets += whole
			e.copy.bytes += whole * c.packetSize
			e.copy.hits = true
		}
	}
}
