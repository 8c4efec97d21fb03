package engine

import (
	"strconv"
	"time"
)

// The ageing of ovs-vswitchd's revalidator threads. It judges a flow by the counters that the RNIC showed last; that these may
// be old it cannot know (paper, section 4.2: "it may delete the offloaded flow from both the software and hardware by mistake").
const (
	defaultMaxIdle      = 10 * time.Second
	defaultFlowLimit    = 200_000
	initialFlowLimit    = 10_000
	revalidatorInterval = 500 * time.Millisecond
	// dumpCost is an assumed time to fetch and check one flow.
	dumpCost = 12 * time.Microsecond
	// crowdedMaxIdle is OVS's idle time while there are more flows than the limit.
	crowdedMaxIdle = 100 * time.Millisecond
)

// Switch is what the simulator keeps of a host's ovs-vswitchd.
type Switch struct {
	MaxIdle          time.Duration
	ConfiguredLimit  int
	FlowLimit        int
	DumpDuration     time.Duration
	AverageFlows     float64
	MostFlows        int
	Hits             uint64
	Missed, Lost     float64
	MaskLookups      float64 // masks that the software datapath tried
	Inserted         uint64  // dpif_flow_put
	Deleted          uint64  // dpif_flow_del
	FlowLimitReached uint64  // upcall_flow_limit_hit
	nextRound        time.Duration

	past       []Events // totals once a second, newest last
	lookedUpTo float64  // misses that MaskLookups holds already
}

func newSwitch() Switch {
	return Switch{MaxIdle: defaultMaxIdle, ConfiguredLimit: defaultFlowLimit, FlowLimit: initialFlowLimit}
}

// ApplyOtherConfig takes over what stands in Open_vSwitch.other_config, with OVS's own rules: a value that is no number counts
// as absent, and max-idle is at least 500 ms.
func (e *Engine) ApplyOtherConfig(h *Host, config map[string]string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	h.Switch.MaxIdle, h.Switch.ConfiguredLimit = defaultMaxIdle, defaultFlowLimit
	if ms, err := strconv.Atoi(config["max-idle"]); err == nil {
		h.Switch.MaxIdle = time.Duration(max(ms, 500)) * time.Millisecond
	}
	if limit, err := strconv.Atoi(config["flow-limit"]); err == nil && limit >= 0 {
		h.Switch.ConfiguredLimit = limit
	}
	h.Switch.FlowLimit = max(1000, min(h.Switch.FlowLimit, h.Switch.ConfiguredLimit))
}

// Flows is the number of flows in the host's datapath.
func (h *Host) Flows() int {
	n := 0
	for _, r := range h.RNICs {
		n += len(r.entries)
	}
	return n
}

func (h *Host) revalidate(now time.Duration) {
	s := &h.Switch
	if now < s.nextRound {
		return
	}
	s.nextRound = now + min(s.MaxIdle, revalidatorInterval)
	flows := h.Flows()
	maxIdle := s.MaxIdle
	if flows > s.FlowLimit {
		maxIdle = crowdedMaxIdle
	}
	deletions := time.Duration(0)
	for _, r := range h.RNICs {
		for _, e := range r.entries {
			if e.state != installed || now-e.lastUsed <= maxIdle {
				continue
			}
			if uint64(e.hwPackets) != e.seenPackets {
				r.truth.liveDeletions++
			}
			s.Deleted++
			deletions += r.Model.Costs.Delete
			r.submit(e, false)
		}
	}
	s.DumpDuration = max(time.Millisecond, time.Duration(flows)*dumpCost+deletions)
	s.AverageFlows = (s.AverageFlows*15 + float64(flows)) / 16
	s.MostFlows = max(s.MostFlows, flows)
	s.backOff(flows)
}

// backOff is OVS's control of the flow limit by the time that a round took.
func (s *Switch) backOff(flows int) {
	switch ms := s.DumpDuration.Milliseconds(); {
	case ms > 2000:
		s.FlowLimit /= int(ms / 1000)
	case ms > 1300:
		s.FlowLimit = s.FlowLimit * 3 / 4
	case ms < 1000 && s.FlowLimit < flows*1000/int(max(ms, 1)):
		s.FlowLimit += 1000
	}
	s.FlowLimit = min(s.ConfiguredLimit, max(s.FlowLimit, 1000))
}

// upcall handles the first packet of a flow that is not in the datapath: it asks for an entry unless the table is full.
func (h *Host) upcall(e *Entry) {
	if e == nil || e.state != absent {
		return
	}
	if h.Flows() >= h.Switch.FlowLimit {
		h.Switch.FlowLimitReached++
		return
	}
	h.Switch.Inserted++
	e.rnic.submit(e, true)
}
