package engine

import (
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/rnicmodel"
)

// Observer sees what happens inside the mechanism, to judge it from outside (package truth). Nothing flows back: its methods return nothing, and
// the mechanism keeps no state for it. They are called in the middle of a step; only StepEnded may read the fleet.
type Observer interface {
	// FlowInstalled follows each insertion into the hardware that succeeded.
	FlowInstalled(e *Entry, now time.Duration)
	// FlowAddedByHand says that the entry is inserted because somebody requested it.
	FlowAddedByHand(e *Entry)
	// FlowDeletedInUse says that an entry is deleted although its packets have not stopped.
	FlowDeletedInUse(e *Entry, reason DeletionReason, now time.Duration)
	// DeletionRequested follows each deletion of an aged flow by the switch.
	DeletionRequested(r *RNIC)
	// ConnectionSuspendedInUse says that the kernel took a connection out of the hardware although its packets have not stopped.
	ConnectionSuspendedInUse(r *RNIC, now time.Duration)
	// KernelStalled and HostCrashed name the RNIC whose driver did it.
	KernelStalled(r *RNIC, now time.Duration)
	HostCrashed(r *RNIC, now time.Duration)
	// Transferred follows each connection that hardware forwarded in a step.
	Transferred(t Transfer)
	// DirectionLoaded follows each step of each direction of an RNIC.
	DirectionLoaded(r *RNIC, d Direction, l DirectionLoad)
	// VFsServed follows each short step of what the VFs of a card with tenants share.
	VFsServed(r *RNIC, report VFReport)
	// StepEnded follows each step of at most MaxStep.
	StepEnded(now time.Duration)
}

// DeletionReason is why an entry in use was deleted.
type DeletionReason int

// The reasons.
const (
	StaleCounter    DeletionReason = iota // the switch saw a counter that stood still
	OverFlowLimit                         // the switch had more flows than its limit, whatever the counters said
	EvictedFromCard                       // the firmware deleted it, not the switch
)

// Transfer is what a connection sent in a step.
type Transfer struct {
	Sender, Receiver        *RNIC // nil outside the simulated fleet
	Performance             rnicmodel.Performance
	DemandGbps, GrantedGbps float64
	LatencyUs               float64
	QL, QR                  float64 // mask lookups at the sender and at the receiver
	NarrowLink              bool    // an RNIC on the way has a PCIe link below its best
}

// DirectionLoad is what a direction of an RNIC had to carry in a step.
type DirectionLoad struct {
	WantGbps, GrantedGbps     float64
	CapacityGbps              float64 // what the mask chain and the link let through
	HeadGbps                  float64 // what they would let through without any mask query
	OwnQueries, OthersQueries float64 // mean mask lookups of the packets in flight, here and at the other ends
	Seconds                   float64 // length of the step
}

// Observe shows the mechanism to an observer from the next step on.
func (e *Engine) Observe(observer Observer) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.observer = observer
	for _, r := range e.rnics {
		r.observer = observer
	}
}

// unobserved is the observer of a fleet that nobody judges.
type unobserved struct{}

func (unobserved) FlowInstalled(*Entry, time.Duration)                    {}
func (unobserved) FlowAddedByHand(*Entry)                                 {}
func (unobserved) FlowDeletedInUse(*Entry, DeletionReason, time.Duration) {}
func (unobserved) DeletionRequested(*RNIC)                                {}
func (unobserved) ConnectionSuspendedInUse(*RNIC, time.Duration)          {}
func (unobserved) KernelStalled(*RNIC, time.Duration)                     {}
func (unobserved) HostCrashed(*RNIC, time.Duration)                       {}
func (unobserved) Transferred(Transfer)                                   {}
func (unobserved) DirectionLoaded(*RNIC, Direction, DirectionLoad)        {}
func (unobserved) VFsServed(*RNIC, VFReport)                              {}
func (unobserved) StepEnded(time.Duration)                                {}

func (r *RNIC) observeLoad(d Direction, l *load, seconds float64) {
	own, others := l.means()
	if d == Ingress {
		own, others = others, own
	}
	r.observer.DirectionLoaded(r, d, DirectionLoad{
		WantGbps: l.want, GrantedGbps: l.want * l.scale, CapacityGbps: l.capacity,
		HeadGbps:   min(r.Model.Performance.BandwidthGbps(0, 0), r.pcieGbps()),
		OwnQueries: own, OthersQueries: others, Seconds: seconds,
	})
}

func (c *connection) observeTransfer(latencyUs float64) {
	observer := c.src.RNIC
	if observer == nil {
		observer = c.dst.RNIC
	}
	ql, qr := c.positions()
	observer.observer.Transferred(Transfer{
		Sender: c.src.RNIC, Receiver: c.dst.RNIC, Performance: c.model(), DemandGbps: c.demandGbps * c.limited(), GrantedGbps: c.rateGbps,
		LatencyUs: latencyUs, QL: ql, QR: qr, NarrowLink: c.onNarrowLink(),
	})
}

// onNarrowLink reports whether an RNIC on the way has a PCIe link below its best.
func (c *connection) onNarrowLink() bool {
	return (c.src.RNIC != nil && c.src.RNIC.link.degraded) || (c.dst.RNIC != nil && c.dst.RNIC.link.degraded)
}

// RNIC is the card that the entry is on.
func (e *Entry) RNIC() *RNIC { return e.rnic }

// OutOfService reports whether the host is between a crash or shutdown and the end of its boot.
func (h *Host) OutOfService(now time.Duration) bool { return h.crashing || h.Down(now) }

// LinkImpaired reports whether the PCIe link is lost or below its best, and since when.
func (r *RNIC) LinkImpaired() (since time.Duration, impaired bool) {
	return r.link.lostAt, r.link.downUntil > 0 || r.link.degraded
}

// FirmwareStopped reports whether the firmware has stopped, and since when.
func (r *RNIC) FirmwareStopped() (since time.Duration, stopped bool) { return r.wedgedAt, r.wedged() }

// DeletionTimes are what a deletion takes in the firmware, and as seen from the host: while the scan of late counters leaves the commands only a
// part of the interface, each waits longer.
func (r *RNIC) DeletionTimes() (firmware, fromHost time.Duration) {
	firmware = r.deletionTime()
	if r.scanBehind {
		return firmware, time.Duration(float64(firmware) / reservedForCommands)
	}
	return firmware, firmware
}
