package ovs_offload

import (
	"math"
	"time"

	"github.com/wallwatch/wallwatch/collectors/internal/ovs/dpctl"
)

// flow is what is remembered of one flow between two dumps: about 100 bytes, for up to 40,000 flows. Values of the dump
// that is being read wait in next until the dump is known to be complete.
type flow struct {
	ufid             dpctl.UFID
	match, actions   uint64
	owner            *rnicState
	function         string // PCI address of the virtual function that sends or receives it, where it is known
	mask             *mask
	encaps           *tunnels
	source           string // the tunnel endpoint that packets of an ingress flow come from, where its match names one
	now, next        reading
	entry            entry
	gaps             longestGaps
	topology         uint32
	side             direction
	known, seen      bool
	replaced, copied bool
	// recirculates is set for all flows of a packet but the last: the switch looks it up again, as after connection tracking.
	recirculates bool
	// homeless is a flow of a tunnel that belongs to no RNIC as far as is known: it may be known in the next dump.
	homeless bool
	// opaque is a flow whose match could not be understood.
	opaque bool
	// doubted is set when the count of the dump before could not be true.
	doubted bool
	// stood is set when the counter did not move between the two dumps before.
	stood bool
}

// reading is one flow's line of one dump.
type reading struct {
	packets, copyPackets uint64
	// usedAt is when the counter last moved, in ms since the collector started (negative before that); neverUsed when the flow was not used.
	usedAt  int64
	offload dpctl.Offload
	// handedOver is set when the switch gave the flow to TC or to the RNIC's driver, which may have refused it.
	handedOver bool
}

const neverUsed = math.MinInt64

// entry is how the RNIC's entry of a flow began.
type entry struct {
	after int64 // the last dump without it, ms since the collector started
	// seen is when it had packets: for an entry that was there in the first dump the time of that one, else the same as after.
	seen    int64
	packets uint64
}

// steadyRate is how many packets a second make a flow's traffic steady: less is at rest between two packets.
const steadyRate = 1.0

// isSteady reports whether the entry counted packets at such a rate from its beginning until it was last seen. One that never counted is not known to.
func (f *flow) isSteady(last reading, seenMS int64) bool {
	seconds := float64(seenMS-f.entry.seen) / 1000
	return last.packets > f.entry.packets && float64(last.packets-f.entry.packets) >= steadyRate*seconds
}

// hardware reports whether the RNIC has the flow. A partly offloaded flow is classified by the RNIC but forwarded by
// software, so it has no entry in the eSwitch's chain.
func (r reading) hardware() bool { return r.offload == dpctl.Offloaded }

// inRNIC reports whether the RNIC has an entry for the flow, which has to be inserted and deleted also where software forwards.
func (r reading) inRNIC() bool { return r.offload != dpctl.Software }

// grave remembers an entry that the RNIC lost, for a minute: it may come back.
type grave struct {
	owner *rnicState
	// usedAt is when its counter moved, or when the entry was made if it never did.
	usedAt int64
	// steady is set when it carried packets steadily.
	steady      bool
	longestGaps longestGaps
	// seen is the last dump with the flow, gone the first without it.
	seen, gone time.Time
	// absences is the number of dumps that had it neither in the RNIC nor in software.
	absences int
}

// tunnels are the encapsulation contexts of one action list. Most flows to one peer share it.
type tunnels struct {
	contexts []uint64
	// peer is the address that the first of them sends to, empty without one.
	peer   string
	output *rnicState
	// function is the virtual function behind output.
	function     string
	recirculates bool
	dump         uint32
}

// rnicState is what is remembered of one RNIC between two dumps.
type rnicState struct {
	id, netdev string
	chains     [directions]chain
	recent     recent
	contexts   map[uint64]struct{}
	peers      peers
	population population
	change     change
	// queue is how long the deletions take that wait, and so how late an insertion after them is: 0 where hardly any flow waits for its deletion.
	queue time.Duration
	// returnsAreLive is set when nearly all flows that came back within the last minute had live traffic.
	returnsAreLive bool
	// byPriority is set when TC's priorities order the masks.
	byPriority bool
}

// population counts the flows of one dump.
type population struct {
	offloaded, partial, software int
	// tcSoftware are those of software that TC has, overdue those of the RNIC that should be gone.
	tcSoftware, overdue int
	bySide              [directions]int
	contexts            int
}

// change is what happened since the dump before.
type change struct {
	packets, copyPackets  uint64
	insertions, deletions int
	returns               returns
	// lookups are those of packets that are looked up again after them, and of those that are not: each packet has one of the latter.
	passing, last [directions]queries
	// gaps has for each flow the longest time for which its counter stood still in the last minute.
	gaps *histogram
	// lags are the times for which entries were seen after they had aged.
	lags *histogram
	// backlog is the number of overdue flows in the dump before.
	backlog int
}

// flowTable holds flows by UFID in one slice, so that a dump needs one lookup a flow and no allocation.
type flowTable struct {
	index map[dpctl.UFID]int
	slots []flow
	free  []int
}

func newFlowTable() flowTable { return flowTable{index: make(map[dpctl.UFID]int)} }

func (t *flowTable) get(ufid dpctl.UFID) *flow {
	if slot, ok := t.index[ufid]; ok {
		return &t.slots[slot]
	}
	var slot int
	if last := len(t.free) - 1; last >= 0 {
		slot, t.free = t.free[last], t.free[:last]
		t.slots[slot] = flow{ufid: ufid}
	} else {
		slot = len(t.slots)
		t.slots = append(t.slots, flow{ufid: ufid})
	}
	t.index[ufid] = slot
	return &t.slots[slot]
}

func (t *flowTable) remove(slot int) {
	delete(t.index, t.slots[slot].ufid)
	t.slots[slot] = flow{}
	t.free = append(t.free, slot)
}

// each visits every flow; visit may remove the one it is given.
func (t *flowTable) each(visit func(slot int, f *flow)) {
	for slot := range t.slots {
		if f := &t.slots[slot]; f.known || f.seen {
			visit(slot, f)
		}
	}
}
