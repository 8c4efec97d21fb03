package rnic

import "slices"

// occurrence is something that a sample shows to have happened since the one before; it becomes an event.
type occurrence struct {
	kind, detail string
	// device is the PCI address of the one virtual function concerned, else "".
	device string
}

// oneOfAKind puts what happened at the same time into one event for each kind: the time and the kind are an event's identity.
func oneOfAKind(happened []occurrence) []occurrence {
	var kept []occurrence
	for _, o := range happened {
		i := slices.IndexFunc(kept, func(k occurrence) bool { return k.kind == o.kind })
		if i < 0 {
			kept = append(kept, o)
			continue
		}
		kept[i].detail += " " + o.detail
		if kept[i].device != o.device {
			kept[i].device = ""
		}
	}
	return kept
}

// The kinds of events that are this input's own, in addition to those of the package event. The kernel log's input uses
// device_health and pcie_link_degraded for the same things.
const (
	portDisabled     = "port_disabled"
	deviceHealth     = "device_health"
	deviceRecovered  = "device_recovered"
	pcieLinkDegraded = "pcie_link_degraded"
	pcieLinkRestored = "pcie_link_restored"
	vfAppeared       = "vf_appeared"
	vfVanished       = "vf_vanished"
	vfBound          = "vf_bound"
	vfUnbound        = "vf_unbound"
)
