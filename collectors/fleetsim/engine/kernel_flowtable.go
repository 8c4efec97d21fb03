package engine

import "time"

// Software forwarding of offloaded flows (paper, section 3.2 "RNIC Hardware" and Table 1: symptom S5 of cause C5).
//
// Open vSwitch is not the only one that ages flows by the RNIC's counters: the kernel's own flow table, which holds the connections of
// offloaded flows, gives one up whose counter has not moved for a fixed time (30 s for UDP). The flow stays offloaded in Open
// vSwitch's view, but its packets come to the software datapath, which forwards them by a copy of the flow, until the kernel has put
// the connection back. That the paper's S5 arises in this way is an assumption; that late counters are its cause is the paper's.

// kernelIdle is net.netfilter.nf_flowtable_udp_timeout.
const kernelIdle = 30 * time.Second

// softwareCopy is a flow of the software datapath. Its counters are always up to date.
type softwareCopy struct {
	packets, bytes float64
	lastUsed       time.Duration
	hits           bool // carried packets in this step
}

// ageConnections takes connections out of the hardware whose counters stood still for too long.
func (r *RNIC) ageConnections(now time.Duration) {
	if !r.Host.awake(now) || r.silent() {
		return
	}
	for _, e := range r.entries {
		if e.state != installed || e.suspended || now-e.lastUsed <= kernelIdle {
			continue
		}
		e.suspended = true
		if uint64(e.hwPackets) != e.seenPackets {
			r.observer.ConnectionSuspendedInUse(r, now)
		}
	}
}

// restore puts a connection back into the hardware.
func (e *Entry) restore(now time.Duration) {
	if e.state == installed {
		e.suspended, e.restoring, e.lastUsed = false, false, now
	}
}

// copyToSoftware gives the software datapath a flow of its own for an entry that the card does not forward.
func (h *Host) copyToSoftware(e *Entry) {
	if e.copy == nil {
		e.copy = &softwareCopy{}
		h.copies = append(h.copies, e)
	}
}

// revalidateCopies ages the flows of the software datapath.
func (h *Host) revalidateCopies(now, maxIdle time.Duration) {
	kept := h.copies[:0]
	for _, e := range h.copies {
		c := e.copy
		if c.hits || c.lastUsed == 0 {
			c.lastUsed, c.hits = now, false
		}
		if now-c.lastUsed > maxIdle || (e.conn.ended && e.state == absent) {
			e.copy = nil
			h.Switch.Deleted++
			continue
		}
		kept = append(kept, e)
	}
	clear(h.copies[len(kept):])
	h.copies = kept
}
