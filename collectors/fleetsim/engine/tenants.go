package engine

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine/vfengine"
	"github.com/wallwatch/wallwatch/collectors/fleetsim/scenario"
)

// Tenants are containers with loads of their own on VFs, whose packets pass what the VFs of a card share (package vfengine). A card without
// tenants has none of that: its VFs are served as flows only (traffic.go).

// What the shared parts of a card can do, where the paper has no figure. Assumed: engines forward some 20 million packets per second for each
// 100 Gbit/s of line rate (XL710: 37 million at 40 Gbit/s, ConnectX-5: about 80 to 100 without encapsulation, less with it).
const (
	packetsPerGbps  = 0.2e6
	receiveQueue    = 32768   // packets
	receiveBuffer   = 4 << 20 // bytes
	sendPlaces      = 1024
	pcieEfficiency  = 0.9 // headers of PCIe's packets take the rest
	softirqPerCore  = 1e6 // packets per second that a core handles in soft interrupts
	softirqCores    = 4.0 // of a host where the scenario does not say
	softirqBacklog  = 1000
	softirqRound    = 2 * time.Millisecond // net.core.netdev_budget_usecs: a round that uses it up is squeezed
	ringShare       = 0.5                  // of what soft interrupts have no time for: found no buffer in the card's ring rather than no place in the backlog
	loadPersisting  = 0.98                 // of a load's swing from one step of vfengine to the next
	loadDeviation   = 0.02
	pressureFrom    = 0.8 // load from which tasks wait for the CPU because of soft interrupts
	sendQueuePlaces = 1000
)

// tenant is one container of scenario.Tenant.
type tenant struct {
	spec      scenario.Tenant
	rnic      *RNIC
	vf        int
	number    int
	container *Container // nil until it has its VF
	nextStart time.Duration
	swing     float64 // of its loads, around 0
	answered  float64 // share of its requests that were sent in the last step
	probes    probes
}

// shared is what the VFs of a card with tenants share.
type shared struct {
	card     vfengine.Card
	rng      *rand.Rand // its own: the draws of the rest of the fleet are as without tenants
	tenants  []*tenant  // by VF
	demands  []vfengine.Demand
	services []vfengine.Service
	arrived  []float64 // packets that the engine handed to the host's kernel, by VF
	handled  []vfengine.Handled
	counted  []VFCounters // at the end of the last step, to know what flows did in this one
	queues   []sendQueue
	strayPPS float64
	strayEnd time.Duration
	pcie     pcieStalls
	report   VFReport
}

// sendQueue is what a VF's packets do in front of the send buffer: the queueing discipline of its representor.
type sendQueue struct {
	BacklogBytes, Drops, Overlimits, Requeues, Policed float64
}

// planTenants gives tenants their VFs, in the order of the scenario.
func (e *Engine) planTenants(s *scenario.Scenario) {
	for n, spec := range s.Tenants {
		for _, r := range e.rnics {
			if r.Host.Name != spec.Host || r.PCI != spec.RNIC {
				continue
			}
			if r.shared == nil {
				r.shared = r.newShared(s.Seed)
			}
			t := &tenant{spec: spec, rnic: r, vf: len(r.shared.tenants), number: n, answered: 1}
			r.shared.tenants = append(r.shared.tenants, t)
			e.tenants = append(e.tenants, t)
		}
	}
	for _, h := range e.hosts {
		cores := softirqCores
		for _, setting := range s.Settings {
			if setting.Host == h.Name && setting.SoftirqCores > 0 {
				cores = setting.SoftirqCores
			}
		}
		h.softirq.kernel = vfengine.Softirq{PacketRate: cores * softirqPerCore, Backlog: softirqBacklog * math.Max(1, cores)}
	}
}

func (r *RNIC) newShared(seed uint64) *shared {
	n := len(r.VFs)
	return &shared{
		card: vfengine.Card{
			PacketRate: packetsPerGbps * r.Model.LineGbps, ByteRate: r.Model.Performance.BandwidthGbps(0, 0) * 1e9 / 8,
			QueuePackets: receiveQueue, QueueBytes: receiveBuffer, SendPlaces: sendPlaces, SendRate: r.Model.LineGbps * 1e9 / 8,
		},
		rng:     rand.New(rand.NewPCG(seed, r.GUID)),
		demands: make([]vfengine.Demand, n), services: make([]vfengine.Service, n), arrived: make([]float64, n),
		handled: make([]vfengine.Handled, n), counted: make([]VFCounters, n), queues: make([]sendQueue, n),
	}
}

// HasTenants reports whether any card of the fleet has tenants: what they do to each other is over in less than a second.
func (e *Engine) HasTenants() bool { return len(e.tenants) > 0 }

// Shared reports whether the card's VFs are served by what they share.
func (r *RNIC) Shared() bool { return r.shared != nil }

// reserved reports whether a VF is kept for a tenant.
func (r *RNIC) reserved(vf int) bool { return r.shared != nil && vf < len(r.shared.tenants) }

// startTenants starts containers that do not run.
func (e *Engine) startTenants() {
	for _, t := range e.tenants {
		h := t.rnic.Host
		if t.container != nil && t.container.stopped {
			t.container = nil
		}
		if t.container != nil || h.Down(e.now) || h.Stalled(e.now) || e.now < t.nextStart {
			continue
		}
		t.nextStart = e.now + retryDelay
		c := e.newContainer(t.rnic, t.vf)
		c.IP, c.VNI, c.Namespace, c.Pod = scenario.TenantAddress(t.number), 900, t.spec.Namespace, t.spec.Pod
		if t.spec.SLO.Promised() {
			c.SLO = t.spec.SLO.String()
		}
		if e.admission.Add(c) == nil {
			t.container, t.rnic.VFs[t.vf] = c, c
		}
	}
}

// loseTenants ends those of a host that goes down, and what its kernel has counted.
func (e *Engine) loseTenants(h *Host) {
	h.softirq.processed, h.softirq.dropped, h.softirq.squeezed, h.softirq.pressureUs = 0, 0, 0, 0
	for _, r := range h.RNICs {
		if r.shared != nil {
			clear(r.shared.queues)
			r.shared.pcie = pcieStalls{}
		}
	}
	for _, t := range e.tenants {
		if t.rnic.Host == h && t.container != nil {
			t.container.stopped = true
			h.lost = append(h.lost, t.container)
			t.container = nil
		}
	}
}

// active reports whether a load is on at a time.
func active(x *scenario.Exchange, now time.Duration) bool {
	since := now - x.At.Std()
	switch {
	case since < 0:
		return false
	case x.Every > 0:
		since %= x.Every.Std()
	}
	return x.For == 0 || since < x.For.Std()
}

// traffic is a rate of packets with their mean size.
type traffic struct{ pps, bytes float64 }

func (t *traffic) add(pps, size float64) {
	t.pps += pps
	t.bytes += pps * size
}

func (t traffic) size() float64 {
	if t.pps == 0 {
		return 0
	}
	return t.bytes / t.pps
}

// demand is what the tenant's VF offers to what it shares, and the packets per second that its own policer drops before.
func (t *tenant) demand(now time.Duration, rng *rand.Rand) (d vfengine.Demand, policed float64) {
	t.swing = loadPersisting*t.swing + math.Sqrt(1-loadPersisting*loadPersisting)*loadDeviation*rng.NormFloat64()
	if t.container == nil || !t.rnic.forwards() || t.rnic.Host.Stalled(now) {
		return vfengine.Demand{}, 0
	}
	var send, receive, replies traffic
	for i := range t.spec.Loads {
		x := &t.spec.Loads[i]
		if !active(x, now) {
			continue
		}
		pps := x.KPPS * 1000 * (1 + t.swing)
		switch x.Kind {
		case "receive":
			receive.add(pps, x.PacketBytes)
		case "send":
			send.add(pps, x.PacketBytes)
		default:
			send.add(pps, x.PacketBytes)
			replies.add(pps, orElse(x.ReplyBytes, x.PacketBytes))
		}
	}
	passed := 1.0
	if limit := t.rnic.ports[t.vf].limitGbps * 1e9 / 8; limit > 0 && send.bytes > limit {
		passed = limit / send.bytes // the card takes no more from the VF: what is above waits in the guest
	}
	if rate := t.spec.PolicerMbps * 1e6 / 8; rate > 0 && send.bytes*passed > rate {
		policed = send.pps * (passed - rate/send.bytes)
		passed = rate / send.bytes
	}
	receive.add(replies.pps*passed*t.answered, replies.size())
	return vfengine.Demand{Receive: receive.pps, ReceiveSize: receive.size(), Send: send.pps * passed, SendSize: send.size(),
		Shaper: t.spec.ShaperMbps * 1e6 / 8}, policed
}

func orElse(value, other float64) float64 {
	if value > 0 {
		return value
	}
	return other
}
