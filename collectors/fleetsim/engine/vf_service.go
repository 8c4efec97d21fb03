package engine

import (
	"math"
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine/vfengine"
	"github.com/wallwatch/wallwatch/collectors/fleetsim/scenario"
)

// How the packets of VFs pass what they share: once per step of the fleet, in short steps of package vfengine.

// VFReport is what an observer sees of one short step on one card. Its slice is valid during the call only.
type VFReport struct {
	From, To time.Duration
	Load     vfengine.Load
	// CPULoad is how much of the host's time for soft interrupts was asked for; 1 is all of it.
	CPULoad float64
	Card    *vfengine.Card
	VFs     []VFShare // by number
}

// VFShare is one VF in a short step.
type VFShare struct {
	Container *Container // nil where the VF is free
	Promise   scenario.SLO
	Kernel    bool // its packets are handled by the host's kernel
	Demand    vfengine.Demand
	Service   vfengine.Service
	CPU       vfengine.Handled
	Policed   float64 // packets that its own policer dropped
}

// softirqState is what a host's kernel counts of soft interrupts.
type softirqState struct {
	kernel                       vfengine.Softirq
	processed, dropped, squeezed float64
	pressureUs                   float64
	arrived                      []float64
	handled                      []vfengine.Handled
}

// pcieStalls are the card's counters of writes that had to wait.
type pcieStalls struct {
	stalled   float64 // seconds in the second that is under way
	second    time.Duration
	percent   float64 // of the last whole second
	events    float64 // seconds with more than stallEvent
	overflows float64 // packets lost because of that
}

// stallEvent is the share of a second from which mlx5 counts it as an event.
const stallEvent = 0.3

// serveVFs lets the packets of a step pass.
func (e *Engine) serveVFs(dt time.Duration) {
	if len(e.tenants) == 0 {
		return
	}
	steps := int((dt + vfengine.MaxStep - 1) / vfengine.MaxStep)
	for _, h := range e.hosts {
		if !h.hasTenants() {
			continue
		}
		flows := make([][]VFCounters, len(h.RNICs))
		for i, r := range h.RNICs {
			flows[i] = r.flowsOfStep()
		}
		for k := range steps {
			from, to := e.now-dt+dt*time.Duration(k)/time.Duration(steps), e.now-dt+dt*time.Duration(k+1)/time.Duration(steps)
			e.serveHost(h, flows, from, to, dt.Seconds())
		}
		for _, r := range h.RNICs {
			if r.shared != nil {
				copy(r.shared.counted, r.VFCounters)
			}
		}
	}
}

func (h *Host) hasTenants() bool {
	for _, r := range h.RNICs {
		if r.shared != nil {
			return true
		}
	}
	return false
}

// flowsOfStep is what flows sent and received in this step, by VF: they are counted already, and share what the tenants share.
func (r *RNIC) flowsOfStep() []VFCounters {
	if r.shared == nil {
		return nil
	}
	moved := make([]VFCounters, len(r.VFCounters))
	for vf, now := range r.VFCounters {
		was := r.shared.counted[vf]
		if now.RcvPackets < was.RcvPackets || now.XmitPackets < was.XmitPackets {
			was = VFCounters{} // the host has booted
		}
		moved[vf] = VFCounters{RcvPackets: now.RcvPackets - was.RcvPackets, RcvBytes: now.RcvBytes - was.RcvBytes,
			XmitPackets: now.XmitPackets - was.XmitPackets, XmitBytes: now.XmitBytes - was.XmitBytes}
	}
	return moved
}

// serveHost serves all cards of a host for a short time, and then its kernel what they delivered to it.
func (e *Engine) serveHost(h *Host, flows [][]VFCounters, from, to time.Duration, stepSeconds float64) {
	short := to - from
	h.softirq.arrived = h.softirq.arrived[:0]
	for i, r := range h.RNICs {
		if r.shared != nil {
			r.shared.serve(r, flows[i], from, to, stepSeconds)
			h.softirq.arrived = append(h.softirq.arrived, r.shared.arrived...)
		}
	}
	for len(h.softirq.handled) < len(h.softirq.arrived) {
		h.softirq.handled = append(h.softirq.handled, vfengine.Handled{})
	}
	load := h.softirq.step(short)
	at := 0
	for _, r := range h.RNICs {
		if r.shared == nil {
			continue
		}
		n := copy(r.shared.handled, h.softirq.handled[at:])
		at += n
		r.shared.book(r, from, to)
		r.shared.report.From, r.shared.report.To, r.shared.report.CPULoad = from, to, load
		r.observer.VFsServed(r, r.shared.report)
	}
}

// step handles what came in and counts it.
func (s *softirqState) step(short time.Duration) (load float64) {
	load = s.kernel.Step(s.arrived, short.Seconds(), s.handled)
	for _, h := range s.handled[:len(s.arrived)] {
		s.processed += h.Handled
		s.dropped += h.Dropped * (1 - ringShare)
	}
	if load > 1 {
		s.squeezed += short.Seconds() / softirqRound.Seconds()
	}
	s.pressureUs += float64(short.Microseconds()) * math.Min(1, math.Max(0, load-pressureFrom)/(1-pressureFrom))
	return load
}

// serve asks each VF what it wants and lets the card do what it can.
func (s *shared) serve(r *RNIC, flows []VFCounters, from, to time.Duration, stepSeconds float64) {
	short := to - from
	s.card.PCIeRate = r.pcieGbps() * 1e9 / 8 * pcieEfficiency
	s.report.VFs = s.report.VFs[:0]
	for vf := range s.demands {
		share := VFShare{Container: r.VFs[vf]}
		if vf < len(s.tenants) {
			t := s.tenants[vf]
			var policed float64
			share.Demand, policed = t.demand(from, s.rng)
			share.Policed = policed * short.Seconds()
			share.Promise, share.Kernel = t.spec.SLO, t.spec.Path == "kernel"
		} else {
			moved := flows[vf]
			share.Demand = vfengine.Demand{
				Receive: moved.RcvPackets / stepSeconds, ReceiveSize: moved.RcvBytes / math.Max(moved.RcvPackets, 1),
				Send: moved.XmitPackets / stepSeconds, SendSize: moved.XmitBytes / math.Max(moved.XmitPackets, 1),
			}
		}
		s.demands[vf] = share.Demand
		s.demands[vf].Guaranteed = r.ports[vf].guaranteedGbps * 1e9 / 8
		s.report.VFs = append(s.report.VFs, share)
	}
	r.groupDemands(s.demands)
	s.report.Load, s.report.Card = s.card.Step(s.demands, short, s.services), &s.card
	for vf := range s.report.VFs {
		share := &s.report.VFs[vf]
		share.Service, s.arrived[vf] = s.services[vf], 0
		if share.Kernel {
			s.arrived[vf] = share.Service.Received
		}
	}
}

// book counts what came of a short step.
func (s *shared) book(r *RNIC, from, to time.Duration) {
	bound := s.report.Load.PCIe > s.report.Load.Engine()
	for vf := range s.report.VFs {
		share := &s.report.VFs[vf]
		share.CPU = s.handled[vf]
		c := &r.VFCounters[vf]
		c.RcvDropped += share.Service.Discarded
		r.Counters.EngineDiscards += share.Service.Discarded
		if bound {
			s.pcie.overflows += share.Service.Discarded
		}
		if vf < len(s.tenants) {
			s.bookTenant(r, s.tenants[vf], share, from, to)
		}
	}
	if to < s.strayEnd {
		r.Counters.EngineDiscards += s.strayPPS * (to - from).Seconds()
	}
	s.pcie.add(s.report.Load.Stalled, from, to)
}

func (s *shared) bookTenant(r *RNIC, t *tenant, share *VFShare, from, to time.Duration) {
	c, d := &r.VFCounters[t.vf], share.Demand
	received := share.Service.Received
	if share.Kernel {
		received = share.CPU.Handled
		c.RcvDropped += share.CPU.Dropped
		r.Counters.OutOfBuffer += share.CPU.Dropped * ringShare
	}
	c.RcvPackets += received
	c.RcvBytes += received * d.ReceiveSize
	c.XmitPackets += share.Service.Sent
	c.XmitBytes += share.Service.Sent * d.SendSize
	c.XmitDropped += share.Policed
	r.Counters.RcvPackets += received
	r.Counters.RcvBytes += received * (d.ReceiveSize + wireOverhead)
	r.Counters.XmitPackets += share.Service.Sent
	r.Counters.XmitBytes += share.Service.Sent * (d.SendSize + wireOverhead)
	s.queues[t.vf].book(c, share)
	t.answered = 1
	if wanted := d.Send * (to - from).Seconds(); wanted > 0 {
		t.answered = math.Min(1, share.Service.Sent/wanted)
	}
	t.probe(share, to, s.rng)
}

// book moves the queueing discipline in front of the send buffer: what finds no place waits there, and what a shaper has too much of is dropped.
func (q *sendQueue) book(c *VFCounters, share *VFShare) {
	q.Policed += share.Policed
	held := share.Service.Held
	shaped := share.Demand.SlowedByShaper()
	q.BacklogBytes = 0
	if held > 0 {
		q.BacklogBytes = sendQueuePlaces * share.Demand.SendSize
		q.Requeues += held / 64 // a burst that finds no place is put back as one
	}
	if shaped {
		q.Overlimits += held + share.Service.Shaped/64
		q.BacklogBytes += share.Service.Shaped * share.Demand.SendSize
		q.Drops += held // nobody holds this sender back but its shaper
		c.XmitDropped += held
	}
}

// add counts the stalled part of a short step.
func (p *pcieStalls) add(share float64, from, to time.Duration) {
	if second := from.Truncate(time.Second); second != p.second {
		p.percent = math.Min(100, p.stalled*100)
		if p.stalled >= stallEvent {
			p.events++
		}
		p.stalled, p.second = 0, second
	}
	p.stalled += share * (to - from).Seconds()
}
