package engine

import "time"

// Events are totals of what ovs-vswitchd counts with its coverage counters, by their names there.
type Events struct {
	Executed         uint64 // dpif_execute: packets that an upcall forwarded
	Inserted         uint64 // dpif_flow_put
	Deleted          uint64 // dpif_flow_del
	FlowLimitReached uint64 // upcall_flow_limit_hit
	FlowsMissing     uint64 // revalidate_missed_dp_flow
}

// historySeconds is how far back rates reach; Open vSwitch's longest is an hour.
const historySeconds = 3600

// Events are the totals now.
func (s *Switch) Events() Events {
	return Events{Executed: uint64(s.Missed), Inserted: s.Inserted, Deleted: s.Deleted, FlowLimitReached: s.FlowLimitReached, FlowsMissing: s.FlowsMissing}
}

// EventsBefore are the totals of some time ago, zero from before the start.
func (s *Switch) EventsBefore(ago time.Duration) Events {
	if i := len(s.past) - int(ago/time.Second); i >= 0 && i < len(s.past) {
		return s.past[i]
	}
	return Events{}
}

func (s *Switch) remember() {
	if len(s.past) == historySeconds {
		s.past = append(s.past[:0], s.past[1:]...)
	}
	s.past = append(s.past, s.Events())
}

// lookUp books the packets of the software datapath: those that matched tried half of its masks on average, those that missed all.
func (h *Host) lookUp(dt time.Duration) {
	s, matched := &h.Switch, 0.0
	for _, r := range h.RNICs {
		for _, c := range r.VFs {
			if c != nil {
				matched += controlPackets * dt.Seconds()
			}
		}
	}
	matched += s.softwareHits
	s.softwareHits = 0
	masks := float64(h.SoftwareMasks())
	s.Hits += uint64(matched)
	s.MaskLookups += matched*(masks+1)/2 + (s.Missed-s.lookedUpTo)*masks
	s.lookedUpTo = s.Missed
}
