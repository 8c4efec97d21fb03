package engine

import (
	"errors"
	"maps"
	"math"
	"slices"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine/vfengine"
)

// RateGroup is a node of devlink's rates: what the VFs of a card that are in it are guaranteed and may send together, in Gbit/s; 0 is none.
type RateGroup struct{ GuaranteedGbps, LimitGbps float64 }

// AddRateGroup is "devlink port function rate add pci/ADDRESS/NAME tx_share RATE tx_max RATE".
func (e *Engine) AddRateGroup(h *Host, pci, name string, group RateGroup) error {
	return e.ofCard(h, pci, func(r *RNIC) error {
		if _, taken := r.groups[name]; taken {
			return errors.New("File exists") //nolint:staticcheck // the kernel's words
		}
		if r.groups == nil {
			r.groups = map[string]RateGroup{}
		}
		r.groups[name] = group
		return nil
	})
}

// DeleteRateGroup is "devlink port function rate del pci/ADDRESS/NAME".
func (e *Engine) DeleteRateGroup(h *Host, pci, name string) error {
	return e.ofCard(h, pci, func(r *RNIC) error {
		if _, found := r.groups[name]; !found {
			return ErrNoDevice
		}
		if slices.ContainsFunc(r.ports, func(p portOffload) bool { return p.group == name }) {
			return errors.New("Device or resource busy") //nolint:staticcheck // the kernel's words
		}
		delete(r.groups, name)
		return nil
	})
}

// GroupPort is "devlink port function rate set pci/ADDRESS/PORT parent NAME", or "noparent" for the name "". As in Linux 6.2, a port may move from
// one group to another.
func (e *Engine) GroupPort(h *Host, pci string, port int, name string) error {
	return e.ofCard(h, pci, func(r *RNIC) error {
		vf := port - PortOfVF(0)
		if _, found := r.groups[name]; vf < 0 || vf >= len(r.VFs) || name != "" && !found {
			return ErrNoDevice
		}
		r.ports[vf].group = name
		return nil
	})
}

func (e *Engine) ofCard(h *Host, pci string, do func(*RNIC) error) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, r := range h.RNICs {
		if r.PCI == pci {
			return do(r)
		}
	}
	return ErrNoDevice
}

// RateGroups are the card's, by name.
func (r *RNIC) RateGroups() map[string]RateGroup { return r.groups }

// VFGroup is the name of the group that a VF is in, "" for none.
func (r *RNIC) VFGroup(vf int) string { return r.ports[vf].group }

// groupDemands lets the VFs of a group send no more than its limit together, each the same part of its demand (one queue per group), and gives
// the group's guarantee to those of its members whose own guarantees do not cover what they want.
func (r *RNIC) groupDemands(demands []vfengine.Demand) {
	for _, name := range slices.Sorted(maps.Keys(r.groups)) {
		group := r.groups[name]
		var wanted, covered float64 // bytes per second
		for vf := range demands {
			if r.ports[vf].group == name {
				wanted += demands[vf].Wanted()
			}
		}
		passed := 1.0
		if limit := group.LimitGbps * 1e9 / 8; limit > 0 && wanted > limit {
			passed = limit / wanted // what is above waits in the guests
		}
		for vf := range demands {
			if r.ports[vf].group == name {
				demands[vf].Send *= passed
				covered += math.Min(demands[vf].Wanted(), demands[vf].Guaranteed)
			}
		}
		rest, open := group.GuaranteedGbps*1e9/8-covered, wanted*passed-covered
		if rest <= 0 || open <= 0 {
			continue
		}
		for vf := range demands {
			if own := &demands[vf]; r.ports[vf].group == name && own.Wanted() > own.Guaranteed {
				own.Guaranteed += math.Min(1, rest/open) * (own.Wanted() - own.Guaranteed)
			}
		}
	}
}

// groupPart is the part of what a VF may send by its own limit that its group lets it send.
func (r *RNIC) groupPart(vf int) float64 {
	name := r.ports[vf].group
	limit := r.groups[name].LimitGbps
	if limit == 0 {
		return 1
	}
	sum := 0.0
	for other, port := range r.ports {
		if port.group != name {
			continue
		}
		asked := r.asked[other]
		if port.limitGbps > 0 {
			asked = math.Min(asked, port.limitGbps)
		}
		sum += asked
	}
	if sum <= limit {
		return 1
	}
	return limit / sum
}
