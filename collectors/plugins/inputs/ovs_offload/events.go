package ovs_offload

import (
	"fmt"
	"time"

	"github.com/influxdata/telegraf"

	"github.com/wallwatch/wallwatch/collectors/internal/ovs/dpctl"
)

// The kinds of flow events, the letters of the policies' formulas. In brackets the paper's name, where it has one.
const (
	// flowOffloaded: the switch gave the flow to TC or to the RNIC's driver (FL_OFFLD).
	flowOffloaded = "flow_offloaded"
	// entryCreated: the RNIC has the entry (FE_CREATE).
	entryCreated = "flow_entry_created"
	// flowAged: the flow was idle for max-idle by the switch's own reading.
	flowAged = "flow_aged"
	// entryDeleted: the RNIC no longer has the entry.
	entryDeleted = "flow_entry_deleted"
	// flowReturned: the flow is offloaded again, and its entry had been deleted while packets still came (symptom S1).
	flowReturned = "flow_returned"
	// softwareHit: software handled packets of a flow while the RNIC had its entry.
	softwareHit = "flow_software_hit"
)

// flowEvent is one letter of one flow's word.
type flowEvent struct {
	kind     string
	owner    *rnicState
	function string
	flow     dpctl.UFID
	detail   string
}

// flowEvents collects the events of one gathering, in each flow's order. Beyond limit they are only counted, for a host that
// loses all its flows at once must not flood the network too. A limit of 0 collects nothing.
type flowEvents struct {
	limit   int
	list    []flowEvent
	leftOut int
}

func (e *flowEvents) reset() { e.list, e.leftOut = e.list[:0], 0 }

func (e *flowEvents) add(kind string, f *flow, detail string) {
	switch {
	case e.limit == 0:
	case len(e.list) == e.limit:
		e.leftOut++
	default:
		e.list = append(e.list, flowEvent{kind: kind, owner: f.owner, function: f.function, flow: f.ufid, detail: detail})
	}
}

// emitFlowEvents gives every event a time of its own, so that the order of one flow's events is not lost: the store keeps microseconds.
func (p *Plugin) emitFlowEvents(acc telegraf.Accumulator, at time.Time) {
	for i, e := range p.tracker.events.list {
		fields := map[string]any{"flow": e.flow.String()}
		if e.function != "" {
			fields["device"] = e.function
		}
		p.events.EmitFields(acc, at.Add(time.Duration(i)*time.Microsecond), e.kind, e.owner.id, e.detail, fields)
	}
}

// offloadEvents compares a flow with what it was; a flow that is new was nothing.
func (t *tracker) offloadEvents(f *flow, before reading) {
	if f.now.handedOver && !before.handedOver {
		t.events.add(flowOffloaded, f, "The switch offloaded the flow.")
	}
	if f.now.inRNIC() && !before.inRNIC() {
		t.events.add(entryCreated, f, "The RNIC has an entry for the flow.")
	}
}

// usedResolution is how much later than the truth a flow's last use may be printed. For a flow of TC the kernel reports the idle time in
// whole ticks of the user's clock (tcf_t.lastuse, 100 a second), and counts in ticks of its own, of which there are at least 100 a second.
const usedResolution = 20 * time.Millisecond

// deletionEvents reports that an entry was deleted, and whether its flow may have aged by then. A dump does not show who deleted it: a
// removal by rule is a deletion without ageing too, and so is that of a container; the processor ltl learns of the latter from the CNI chain.
//
// A flow counts as aged unless it certainly had not: its line was read at some time of the dump before, and the switch may have deleted it
// up to the end of the dump that has no line of it.
func (t *tracker) deletionEvents(f *flow, last reading) {
	if t.events.limit == 0 {
		return
	}
	usedAt := last.usedAt
	if usedAt == neverUsed { // the switch counts from the flow's beginning then
		usedAt = f.entry.after
	}
	until := t.reading
	if t.ended.After(until) {
		until = t.ended
	}
	if idle := t.sinceStart(until.Add(usedResolution)) - usedAt; idle >= t.maxIdle.Milliseconds() {
		t.events.add(flowAged, f, fmt.Sprintf("The flow was idle for %.1f s at most.", float64(idle)/1000))
	}
	t.events.add(entryDeleted, f, "The RNIC no longer has an entry for the flow.")
}
