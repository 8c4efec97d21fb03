package rnic

import (
	"fmt"
	"strings"

	"github.com/wallwatch/wallwatch/collectors/internal/event"
)

// What the administrator wants of a port.
const (
	adminUp   = "up"
	adminDown = "down"
)

// port is the last known state, "" before the first, and the field that it came from.
type port struct {
	state, field string
	// rdma is set once the device has shown an InfiniBand port.
	rdma bool
}

// addIntent completes admin_state. The network device's flag shows it; an InfiniBand port is disabled by its physical
// state. (A RoCE port shows the same physical state when its cable is pulled, so there it proves nothing.)
func addIntent(fields map[string]any, linkLayer string) {
	if linkLayer == "InfiniBand" && fields["phys_state"] == "Disabled" {
		fields["admin_state"] = adminDown
	}
}

// change compares the port's state with the one before: the InfiniBand port's where the device ever showed one, else operstate.
// The two are never compared with each other: the network device of a port that carries RDMA alone may be down. A port that
// was taken down on purpose is disabled, not down.
func (p *port) change(fields map[string]any) []occurrence {
	field := "operstate"
	if _, shown := fields["port_state"]; shown || p.rdma {
		field, p.rdma = "port_state", true
	}
	state, ok := fields[field].(string)
	if !ok {
		return nil
	}
	before, sameField := p.state, p.field == field
	p.state, p.field = state, field
	if !sameField || isUp(before) == isUp(state) {
		return nil
	}
	detail := "The port went from " + before + " to " + state
	switch {
	case isUp(state):
		return []occurrence{{kind: event.PortUp, detail: detail + "."}}
	case fields["admin_state"] == adminDown:
		return []occurrence{{kind: portDisabled, detail: detail + ": it was disabled on purpose."}}
	}
	return []occurrence{{kind: event.PortDown, detail: detail + "."}}
}

func isUp(state string) bool { return state == "ACTIVE" || strings.EqualFold(state, "up") }

// link is the PCIe link as it was last read.
type link struct {
	lanes int64
	gts   float64
}

// change reports that the link was retrained with fewer or slower lanes, or better ones.
func (l *link) change(fields map[string]any) []occurrence {
	lanes, hasLanes := fields["pci_link_width"].(int64)
	gts, hasSpeed := fields["pci_link_speed_gts"].(float64)
	if !hasLanes || !hasSpeed {
		return nil
	}
	before, now := *l, link{lanes: lanes, gts: gts}
	*l = now
	if before == (link{}) || before == now {
		return nil
	}
	kind := pcieLinkRestored
	if now.lanes < before.lanes || now.gts < before.gts {
		kind = pcieLinkDegraded
	}
	return []occurrence{{kind: kind, detail: fmt.Sprintf("The PCIe link went from %s to %s.", before, now)}}
}

func (l link) String() string { return fmt.Sprintf("%d lanes at %g GT/s", l.lanes, l.gts) }
