package ovs_offload

import (
	"maps"
	"slices"

	"github.com/wallwatch/wallwatch/collectors/internal/ovs/dpctl"
)

// prioritySource reads the TC priority of every offloaded flow of some ports.
type prioritySource interface {
	Priorities(ports []string) (map[dpctl.UFID]uint16, error)
}

// orderMasks asks TC for the order of masks when new ones have come. It is called for a whole dump, before it is committed. Where TC
// cannot be read the order is that of first sight.
func (p *Plugin) orderMasks() {
	if p.tc == nil || !p.tracker.newMasks {
		return
	}
	priorities, err := p.tc.Priorities(slices.Collect(maps.Keys(p.tracker.ports)))
	if err != nil {
		if !p.tcFailed {
			p.Log.Warnf("masks are in the order of first sight from now on: %v", err)
		}
		p.tcFailed = true
		return
	}
	p.tcFailed = false
	p.tracker.order(priorities)
}

// join puts a flow's mask into its chain. The flow's port is noted: TC has the filter there.
func (t *tracker) join(f *flow) {
	chain := &f.owner.chains[f.side]
	masks := len(chain.masks)
	f.mask = chain.join(t.match.Mask, t.match.Bits)
	t.newMasks = t.newMasks || len(chain.masks) > masks
	if _, noted := t.ports[string(t.match.InPort)]; !noted {
		t.ports[string(t.match.InPort)] = struct{}{}
	}
}

// order sorts the chains by the priorities of their flows.
func (t *tracker) order(priorities map[dpctl.UFID]uint16) {
	t.newMasks = false
	t.flows.each(func(_ int, f *flow) {
		if f.seen && f.mask != nil {
			if priority := priorities[f.ufid]; priority > 0 {
				f.mask.priority = priority
			}
		}
	})
	for _, r := range t.rnics {
		r.byPriority = false
		for side := range r.chains {
			r.byPriority = r.chains[side].sort() || r.byPriority
		}
	}
}
