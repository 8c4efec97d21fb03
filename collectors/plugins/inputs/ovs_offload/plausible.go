package ovs_offload

import "github.com/wallwatch/wallwatch/collectors/internal/ovs/dpctl"

const (
	// fastestPort is how many packets of the smallest size a port of 800 Gbit/s carries per second, the fastest there is.
	fastestPort = 1.2e9
	// greatestCount is what such a port carries in 25 years: no flow has counted more. A count that fell below zero looks like one near
	// 2^64.
	greatestCount = fastestPort * 25 * 365 * 86_400
)

// implausible are the flows of one dump whose counts of packets cannot be true.
type implausible struct {
	flows int
	// example is the first of them, and what it counted.
	example dpctl.UFID
	count   uint64
}

// mostPackets is what one flow can have counted since the dump before: also what arrived late, or came while dumps left the flow out.
func (t *tracker) mostPackets() float64 {
	return fastestPort * (t.reading.Sub(t.last) + window).Seconds()
}

// isPlausible reports whether a flow can have counted so many packets since the dump before.
func (t *tracker) isPlausible(packets uint64) bool { return float64(packets) <= t.mostPackets() }

// credible is the flow's new reading with a count that can be true, and whether that is the one of the dump. A count that cannot be true is
// replaced by the one before, so that the flow neither seems to have carried packets nor to have been offloaded again when the true
// count is back. One that stays is taken for the count that the flow begins with from then on.
func (t *tracker) credible(f *flow) (reading, bool) {
	after, before := f.next, uint64(0)
	if f.known {
		before = f.now.packets
	}
	beyond := float64(after.packets) > greatestCount
	jumped := !t.last.IsZero() && after.packets > before && !t.isPlausible(after.packets-before)
	if !beyond && !jumped {
		f.doubted = false
		return after, true
	}
	t.implausible.note(f, after.packets)
	if rebase := f.doubted || !f.known; beyond || !rebase {
		after.packets = before
	}
	f.doubted = true
	return after, false
}

// counted is what a flow carried: nothing where its count is not credible. Whether its counter stood still is unknown then.
func (f *flow) counted(packets uint64, credible bool) uint64 {
	if credible {
		return packets
	}
	f.stood = false
	return 0
}

// note counts a flow of an RNIC.
func (i *implausible) note(f *flow, count uint64) {
	if f.owner == nil {
		return
	}
	if i.flows == 0 {
		i.example, i.count = f.ufid, count
	}
	i.flows++
}

// reportImplausible says in the log what happened when the first such counts come; the field counts them from then on.
func (p *Plugin) reportImplausible() {
	found := p.tracker.implausible
	if found.flows > 0 && !p.doubting {
		p.Log.Warnf("More packets than a port can carry were counted for ufid:%s (%d packets; flows like this: %d). Such counts are left out of Q "+
			"and packets_per_s; flow_counts_implausible has their number.", found.example, found.count, found.flows)
	}
	p.doubting = found.flows > 0
}
