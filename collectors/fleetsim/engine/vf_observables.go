package engine

import "time"

// What the kernel and the drivers of a host with tenants show beyond counters. Call these inside View.

// SendQueue is the queueing discipline of a VF's representor.
type SendQueue = sendQueue

// SendQueue returns it; a card without tenants has none to show.
func (r *RNIC) SendQueue(vf int) (SendQueue, bool) {
	if r.shared == nil {
		return SendQueue{}, false
	}
	return r.shared.queues[vf], true
}

// PCIeStalls are the percentage of the last second in which writes over PCIe had to wait, the number of seconds in which that was more than 30, and
// the packets lost because of it.
func (r *RNIC) PCIeStalls() (percent, events, overflows float64) {
	if r.shared == nil {
		return 0, 0, 0
	}
	return r.shared.pcie.percent, r.shared.pcie.events, r.shared.pcie.overflows
}

// Delay returns the quantiles of the probes through a VF in the last second; false where there is no answer.
func (r *RNIC) Delay(vf int, now time.Duration) (Delay, bool) {
	if !r.reserved(vf) {
		return Delay{}, false
	}
	return r.shared.tenants[vf].probes.last(now)
}

// SoftirqCounters are those of the host's soft interrupts.
type SoftirqCounters struct {
	Processed, Dropped, Squeezed float64
	PressureUs                   float64 // time in which some task waited for a CPU
}

// Softirq returns them; false for a host without tenants, whose soft interrupts are not simulated.
func (h *Host) Softirq() (SoftirqCounters, bool) {
	s := h.softirq
	return SoftirqCounters{Processed: s.processed, Dropped: s.dropped, Squeezed: s.squeezed, PressureUs: s.pressureUs}, h.hasTenants()
}

// SoftirqCores is how many cores take the interrupts of received packets.
func (h *Host) SoftirqCores() float64 { return h.softirq.kernel.PacketRate / softirqPerCore }

// SoftirqRate is how many received packets per second the host's kernel can handle.
func (h *Host) SoftirqRate() float64 { return h.softirq.kernel.PacketRate }

// stray lets packets of no VF come to the port for a while.
func (r *RNIC) stray(pps float64, now, lasting time.Duration) {
	if r.shared == nil {
		return
	}
	r.shared.strayPPS, r.shared.strayEnd = pps, forEver
	if lasting > 0 {
		r.shared.strayEnd = now + lasting
	}
}
