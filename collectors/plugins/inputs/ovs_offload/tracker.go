package ovs_offload

import (
	"time"

	"github.com/wallwatch/wallwatch/collectors/internal/ovs/dpctl"
)

// tracker turns a series of flow dumps into what changed on each RNIC. A dump is read by begin, one add a flow, and then
// commit or, when the dump was cut off, abort: a flow that is missing in half a dump was not deleted.
type tracker struct {
	linger   time.Duration
	start    time.Time
	last     time.Time // of the last complete dump; zero before the first
	reading  time.Time // of the dump that is being read: when it was requested
	ended    time.Time // when its last line had been read
	dump     uint32
	topology *topology
	rnics    map[string]*rnicState
	only     *rnicState // that has representors; nil where there are several
	flows    flowTable
	graves   map[dpctl.UFID]grave
	tunnels  map[uint64]*tunnels
	// addresses are the outer sources of ingress flows, one text for all flows from one endpoint.
	addresses map[string]string
	// maxIdle and sweep are the switch's settings: idle time until a flow is deleted, longest time between two looks at it.
	maxIdle, sweep time.Duration
	// formerMaxIdle was in force until some time within the last minute.
	formerMaxIdle time.Duration
	formerUntil   time.Time
	events        flowEvents
	// newMasks is set when masks joined a chain, until their order has been requested.
	newMasks bool
	// ports are those that offloaded flows come from: representors, uplinks and tunnels.
	ports map[string]struct{}

	matches  dpctl.MatchParser
	match    dpctl.Match // of the line that was parsed last
	actions  dpctl.Actions
	unparsed int
	// ownerless counts the entries of the last complete dump that could not be attributed to an RNIC.
	ownerless int
	// implausible are the flows of the last complete dump whose counts cannot be true.
	implausible implausible
}

// tcLayer is what a dump says of a flow that TC has, whether or not the RNIC took it.
const tcLayer = "tc"

func newTracker(linger time.Duration, start time.Time) *tracker {
	return &tracker{linger: linger, start: start, rnics: make(map[string]*rnicState), flows: newFlowTable(),
		graves: make(map[dpctl.UFID]grave), tunnels: make(map[uint64]*tunnels), addresses: make(map[string]string),
		ports: make(map[string]struct{}), maxIdle: defaultMaxIdle, sweep: defaultMaxRevalidator, topology: &topology{}}
}

// setTimes takes over the switch's settings.
func (t *tracker) setTimes(maxIdle, sweep time.Duration, now time.Time) {
	if maxIdle != t.maxIdle {
		t.formerMaxIdle, t.formerUntil = t.maxIdle, now
	}
	t.maxIdle, t.sweep = maxIdle, sweep
}

// leastMaxIdle is after how long without a packet a flow may have been deleted: after a change of the setting, by the former value too.
func (t *tracker) leastMaxIdle() time.Duration {
	if t.formerMaxIdle > 0 && t.reading.Sub(t.formerUntil) < window {
		return min(t.maxIdle, t.formerMaxIdle)
	}
	return t.maxIdle
}

// reset forgets everything that came from Open vSwitch, after it restarted: it flushes its flows then.
func (t *tracker) reset() {
	fresh := newTracker(t.linger, t.start)
	fresh.maxIdle, fresh.sweep, fresh.events.limit = t.maxIdle, t.sweep, t.events.limit
	fresh.formerMaxIdle, fresh.formerUntil = t.formerMaxIdle, t.formerUntil
	fresh.setTopology(t.topology)
	*t = *fresh
}

// setTopology changes which port belongs to which RNIC. RNICs that are gone take their state with them.
func (t *tracker) setTopology(next *topology) {
	if next == t.topology {
		return
	}
	t.topology = next
	clear(t.tunnels)
	clear(t.ports)
	for id, state := range t.rnics {
		if _, ok := next.netdevOf[id]; !ok {
			delete(t.rnics, id)
			for ufid, g := range t.graves {
				if g.owner == state {
					delete(t.graves, ufid)
				}
			}
		}
	}
	for id, netdev := range next.netdevOf {
		if t.rnics[id] == nil {
			t.rnics[id] = &rnicState{id: id, contexts: make(map[uint64]struct{})}
		}
		t.rnics[id].netdev = netdev
	}
	t.only = t.onlySwitch()
}

// onlySwitch is the RNIC whose eSwitch Open vSwitch uses, nil where there are several.
func (t *tracker) onlySwitch() (only *rnicState) {
	for _, id := range t.topology.representors {
		if r := t.rnics[id]; only != nil && only != r {
			return nil
		} else if r != nil {
			only = r
		}
	}
	return only
}

func (t *tracker) begin(now time.Time) {
	t.reading, t.unparsed = now, 0
	t.events.reset()
	t.dump++
}

func (t *tracker) sinceStart(at time.Time) int64 { return at.Sub(t.start).Milliseconds() }

// add takes one line of the dump.
func (t *tracker) add(line *dpctl.Flow) {
	f := t.flows.get(line.UFID)
	usedAt := int64(neverUsed)
	if line.UsedMS >= 0 {
		usedAt = t.sinceStart(t.reading) - line.UsedMS
	}
	if !f.seen {
		f.next = reading{}
	} else if !f.merge(line) {
		return
	}
	parsed := t.refresh(f, line)
	if f.opaque {
		t.unparsed++
	}
	if f.encaps != nil {
		f.encaps.dump = t.dump
	}
	f.seen = true
	f.next = reading{packets: line.Packets, usedAt: usedAt, offload: line.Offload, copyPackets: f.next.copyPackets,
		handedOver: line.Offload != dpctl.Software || string(line.Layer) == tcLayer}
	if f.owner != nil && f.mask == nil && f.side != noDirection && line.Offload == dpctl.Offloaded {
		if parsed || t.matches.Parse(line.Match, &t.match) == nil {
			t.join(f)
		}
	}
}

// refresh attributes a flow that is new, or whose match, actions or host have changed, and reports whether it has parsed the match.
func (t *tracker) refresh(f *flow, line *dpctl.Flow) (parsed bool) {
	matchHash, actionHash := dpctl.Hash(line.Match), dpctl.Hash(line.Actions)
	if f.known && !f.homeless && f.match == matchHash && f.actions == actionHash && f.topology == t.topology.generation {
		return false
	}
	f.replaced = f.known && f.match != matchHash
	f.match, f.actions, f.topology = matchHash, actionHash, t.topology.generation
	f.opaque = !t.attribute(f, line)
	return true
}

// merge handles a flow that a dump lists twice, once in the RNIC and once in software: the packets of the software copy
// were handled by software although the flow is offloaded. It returns true when the new line is the one to keep.
func (f *flow) merge(line *dpctl.Flow) bool {
	switch {
	case f.next.hardware() && line.Offload != dpctl.Offloaded:
		f.next.copyPackets, f.copied = line.Packets, true
		return false
	case !f.next.hardware() && line.Offload == dpctl.Offloaded:
		f.next.copyPackets, f.copied = f.next.packets, true
		return true
	}
	return false
}

// attribute finds the RNIC and the direction of a flow. Egress flows come from a representor; ingress flows come out of a tunnel or from the
// uplink, and go to a representor or on to another flow. It returns false when the match cannot be understood.
func (t *tracker) attribute(f *flow, line *dpctl.Flow) bool {
	f.owner, f.function, f.mask, f.side, f.encaps, f.source, f.homeless = nil, "", nil, noDirection, nil, "", false
	match := &t.match
	if t.matches.Parse(line.Match, match) != nil {
		return false
	}
	actions := t.tunnelsOf(line.Actions, f.actions)
	f.recirculates = actions.recirculates
	uplink := t.topology.uplinks[string(match.InPort)]
	if id, ok := t.topology.representors[string(match.InPort)]; ok {
		f.owner, f.side, f.encaps, f.function = t.rnics[id], egress, actions, t.topology.functions[string(match.InPort)]
		return true
	}
	switch {
	case actions.output != nil && (match.Tunnel || uplink != ""):
		f.owner, f.function = actions.output, actions.function
		f.owner.peers.receives(match.TunnelDst, t.dump)
	case uplink != "":
		f.owner = t.rnics[uplink]
	case match.Tunnel:
		f.owner = t.receiverAt(match.TunnelDst)
		f.homeless = f.owner == nil
	}
	if f.owner != nil && (match.Tunnel || actions.output != nil || actions.recirculates) {
		f.side, f.source = ingress, t.addressOf(match.TunnelSrc)
	}
	return true
}

// receiverAt finds the RNIC of a flow that comes out of a tunnel and goes to no representor, such as the first of a packet that OVN tracks:
// the only one of the switch, or the only one with other flows from tunnels that end at this address. nil while there is no such one, and
// where several RNICs share an address.
func (t *tracker) receiverAt(address []byte) (owner *rnicState) {
	if t.only != nil {
		return t.only
	}
	for _, r := range t.rnics {
		if _, receives := r.peers.own[string(address)]; !receives {
			continue
		}
		if owner != nil {
			return nil
		}
		owner = r
	}
	return owner
}

// addressOf is one text for an address that many flows have.
func (t *tracker) addressOf(address []byte) string {
	known, there := t.addresses[string(address)]
	if !there {
		known = string(address)
		t.addresses[known] = known
	}
	return known
}

func (t *tracker) tunnelsOf(actions []byte, hash uint64) *tunnels {
	if known := t.tunnels[hash]; known != nil {
		return known
	}
	t.actions.Parse(actions)
	parsed := &tunnels{dump: t.dump}
	parsed.contexts = append(parsed.contexts, t.actions.Encaps...)
	parsed.peer, parsed.recirculates = string(t.actions.Destination), t.actions.Recirculates
	for _, port := range t.actions.Outputs {
		if id, ok := t.topology.representors[string(port)]; ok {
			parsed.output, parsed.function = t.rnics[id], t.topology.functions[string(port)]
			break
		}
	}
	t.tunnels[hash] = parsed
	return parsed
}

// abort drops the dump that is being read. Counters of flows stay as the last complete dump had them.
func (t *tracker) abort() {
	t.flows.each(func(slot int, f *flow) {
		f.seen, f.copied, f.replaced = false, false, false
		if !f.known {
			t.flows.remove(slot)
		}
	})
}

// elapsed is the time between the last complete dump and the one that is being read; 0 for the first.
func (t *tracker) elapsed() time.Duration {
	if t.last.IsZero() {
		return 0
	}
	return t.reading.Sub(t.last)
}
