package engine

import (
	"strconv"
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine/cpu"
)

// The ageing of ovs-vswitchd's revalidator threads. It judges a flow by the counters that the RNIC showed last; that these may
// be old it cannot know (paper, section 4.2: "it may delete the offloaded flow from both the software and hardware by mistake").
const (
	defaultMaxIdle      = 10 * time.Second
	defaultFlowLimit    = 200_000
	initialFlowLimit    = 10_000
	revalidatorInterval = 500 * time.Millisecond
	// smallestBatch is how many operations a thread of ovs-vswitchd hands to the datapath at once.
	smallestBatch = 50
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
	FlowsMissing     uint64  // revalidate_missed_dp_flow
	nextRound        time.Duration

	past         []Events // totals once a second, newest last
	softwareHits float64  // packets of this step that a copy in software forwarded
	lookedUpTo   float64  // misses that MaskLookups holds already
}

func newSwitch() Switch {
	return Switch{MaxIdle: defaultMaxIdle, ConfiguredLimit: defaultFlowLimit, FlowLimit: initialFlowLimit}
}

// ApplyOtherConfig takes over what stands in Open_vSwitch.other_config, with OVS's own rules: a value that is no number counts
// as absent, and max-idle is at least 500 ms.
func (e *Engine) ApplyOtherConfig(h *Host, config map[string]string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	h.Switch.configure(config)
}

func (s *Switch) configure(config map[string]string) {
	s.MaxIdle, s.ConfiguredLimit = defaultMaxIdle, defaultFlowLimit
	if ms, err := strconv.Atoi(config["max-idle"]); err == nil {
		s.MaxIdle = time.Duration(max(ms, 500)) * time.Millisecond
	}
	if limit, err := strconv.Atoi(config["flow-limit"]); err == nil && limit >= 0 {
		s.ConfiguredLimit = limit
	}
	s.FlowLimit = max(1000, min(s.FlowLimit, s.ConfiguredLimit))
}

// Flows is the number of flows in the host's datapath, in hardware and in software.
func (h *Host) Flows() int { return h.OffloadedFlows() + len(h.copies) }

// OffloadedFlows is the number of those in hardware.
func (h *Host) OffloadedFlows() int {
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
	h.sweep(now)
	flows := h.Flows()
	maxIdle := s.MaxIdle
	if flows > s.FlowLimit {
		maxIdle = crowdedMaxIdle
	}
	deletions := time.Duration(0)
	for _, r := range h.RNICs {
		for _, e := range r.revise() {
			s.Deleted++
			r.submit(e, deleteEntry, now)
		}
		// A round goes on while its deletions last, so no more are under way than end until the next one. The others stay in the dump.
		free := max(smallestBatch, int(revalidatorInterval/r.deletionTime())) - r.deletionsQueued
		for _, e := range r.entries {
			if free <= 0 {
				break
			}
			if e.state != installed || now-e.lastUsed <= maxIdle {
				continue
			}
			free--
			if uint64(e.hwPackets) != e.seenPackets && !r.silent() {
				reason := StaleCounter
				if flows > s.FlowLimit {
					reason = OverFlowLimit
				}
				r.observer.FlowDeletedInUse(e, reason, now)
			}
			s.Deleted++
			deletions += r.deletionTime()
			r.observer.DeletionRequested(r)
			r.submit(e, deleteEntry, now)
		}
	}
	h.revalidateCopies(now, maxIdle)
	work := time.Duration(flows) * cpu.DumpCost
	s.DumpDuration = max(time.Millisecond, h.processor.Stretch(work)+deletions)
	round := max(min(s.MaxIdle, revalidatorInterval), s.DumpDuration)
	h.processor.Revalidators = work.Seconds() / max(min(s.MaxIdle, revalidatorInterval), work+deletions).Seconds()
	s.nextRound = now + round
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

// upcall handles a packet that the hardware did not forward: it asks for an entry unless the table is full, and gives the
// packets of a connection that was taken out of the hardware a flow in software.
func (h *Host) upcall(e *Entry, now time.Duration) {
	if e == nil || h.Stalled(now) || e.copy != nil && e.state == absent {
		return
	}
	if e.suspended && e.state == installed {
		h.copyToSoftware(e)
		if !e.restoring {
			e.rnic.submit(e, restoreEntry, now)
		}
		return
	}
	if e.state != absent || e.unnoticed || e.served() {
		return
	}
	if h.Flows() >= h.Switch.FlowLimit {
		h.Switch.FlowLimitReached++
		return
	}
	h.Switch.Inserted++
	if !e.mayOffload() {
		h.copyToSoftware(e)
		return
	}
	e.rnic.submit(e, insertEntry, now)
}
