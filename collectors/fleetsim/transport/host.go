package transport

import (
	"net/netip"
	"time"
)

const (
	// wire is how long a packet takes between a host and the switch.
	wire = 250 * time.Nanosecond
	// gbps is the rate of a port.
	gbps = 100
	// overhead is what a packet has around its payload.
	overhead = 78
	// ackDelay is from the last packet of a message to its acknowledgement, cnpDelay from a marked packet to its notification.
	ackDelay, cnpDelay = 400 * time.Nanosecond, 900 * time.Nanosecond
	// stall is how long the receive pipeline throws packets away once it has no context left.
	stall = 60 * time.Microsecond
	// migrationHold is how long a new connection without MigReq holds a context.
	migrationHold = 30 * time.Microsecond
)

// host is an RNIC: what its connections share.
type host struct {
	profile  profile
	settings *Host
	free     time.Duration // when its port has sent what it has
	counters map[string]int
	lastCNP  map[any]time.Duration
	ipID     uint16
	// recovering are connections that hold a context of the slow path, and until when.
	recovering map[int]time.Duration
	migrating  map[int]time.Duration
	stalled    time.Duration
	known      map[int]bool // connections whose first packet came
}

func newHost(p profile, settings *Host) *host {
	h := &host{profile: p, settings: settings, counters: map[string]int{}, lastCNP: map[any]time.Duration{}, recovering: map[int]time.Duration{},
		migrating: map[int]time.Duration{}, known: map[int]bool{}}
	for _, name := range p.counterNames() {
		h.counters[name] = 0
	}
	return h
}

func (p *profile) counterNames() []string {
	if p.intel {
		return []string{"cnpSent", "cnpHandled", "RxECNMrkd", "rx_discards_phy", "local_ack_timeout_err", "out_of_sequence", "packet_seq_err", "icrc_errors"}
	}
	return []string{"np_cnp_sent", "rp_cnp_handled", "np_ecn_marked_roce_packets", "rx_discards_phy", "local_ack_timeout_err", "out_of_sequence",
		"packet_seq_err", "implied_nak_seq_err", "duplicate_request", "rx_icrc_encapsulated", "roce_adp_retrans"}
}

// bump adds to a counter by its NVIDIA name; Intel's driver has other names and fewer counters.
func (h *host) bump(name string) {
	if h.profile.intel {
		other := map[string]string{"np_cnp_sent": "cnpSent", "rp_cnp_handled": "cnpHandled", "np_ecn_marked_roce_packets": "RxECNMrkd",
			"rx_icrc_encapsulated": "icrc_errors"}
		if intel, ok := other[name]; ok {
			name = intel
		}
	}
	if (h.profile.cnpUncounted && name == "cnpSent") || (h.profile.impliedUncounted && name == "implied_nak_seq_err") {
		return
	}
	if _, has := h.counters[name]; has {
		h.counters[name]++
	}
}

// transmit occupies the port for a packet and returns when the packet has left.
func (h *host) transmit(at time.Duration, payload int) time.Duration {
	start := max(at, h.free)
	h.free = start + time.Duration((payload+overhead)*8/gbps)*time.Nanosecond
	h.ipID++
	if h.ipID == 0 {
		h.ipID = 1
	}
	return h.free
}

// hold takes one of so many contexts for a connection; the pipeline stalls when none is left.
func (h *host) hold(held map[int]time.Duration, contexts, connection int, at, until time.Duration) {
	if contexts == 0 {
		return
	}
	for other, end := range held {
		if end <= at {
			delete(held, other)
		}
	}
	if _, has := held[connection]; !has && len(held) >= contexts {
		h.stalled = max(h.stalled, at+stall)
	}
	held[connection] = max(held[connection], until)
}

// discards tells whether the receive pipeline throws away what arrives now.
func (h *host) discards(at time.Duration) bool {
	if at < h.stalled {
		h.bump("rx_discards_phy")
		return true
	}
	return false
}

// firstPacket is the first packet of a connection: a connection without MigReq needs a context of its own for a while.
func (h *host) firstPacket(connection int, migReq bool, at time.Duration) {
	if h.known[connection] {
		return
	}
	h.known[connection] = true
	if !migReq {
		h.hold(h.migrating, h.profile.migrationContexts, connection, at, at+migrationHold)
	}
}

// mayNotify asks the limiter for a CNP, and counts it as sent.
func (h *host) mayNotify(at time.Duration, to netip.Addr, qpn uint32) bool {
	if !h.settings.RoCE.NotificationPoint {
		return false
	}
	var key any
	switch h.profile.cnpScope {
	case perPort:
		key = 0
	case perDestination:
		key = to
	case perQP:
		key = qpn
	}
	interval := max(h.profile.cnpInterval, time.Duration(h.settings.RoCE.MinCNPGapUs*float64(time.Microsecond)))
	if last, sent := h.lastCNP[key]; sent && at-last < interval {
		return false
	}
	h.lastCNP[key] = at
	return true
}

// wait is how long the n-th consecutive timeout waits, from 0.
func (h *host) wait(timeout, n int) time.Duration {
	least := time.Duration(4096<<timeout) * time.Nanosecond
	if h.settings.RoCE.Adaptive && h.profile.adaptive != nil {
		// The paper's waits are those of timeout 14.
		waits := h.profile.adaptive
		return waits[min(n, len(waits)-1)] * time.Duration(1<<timeout) / (1 << 14)
	}
	return least
}
