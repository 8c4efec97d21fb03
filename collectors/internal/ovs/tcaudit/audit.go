// Package tcaudit finds filters of TC that Open vSwitch has forgotten. Open vSwitch offloads a flow as a filter at the ingress of a port, which has
// the packets before Open vSwitch sees them. When its offload is switched off (other_config:hw-offload), or ends in the wrong moment, filters stay
// behind and go on forwarding by rules that may long be wrong. Nothing in Open vSwitch shows them; the kernel does.
package tcaudit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/wallwatch/wallwatch/collectors/internal/netlink"
	"github.com/wallwatch/wallwatch/collectors/internal/ovs/dpctl"
)

// Classifiers are those that Open vSwitch makes filters of.
var Classifiers = []string{"flower"}

// Kernel lists filters.
type Kernel interface {
	Filters(ctx context.Context, netdevs []string) (map[string][]netlink.Filter, error)
}

// Report is what was found on one host.
type Report struct {
	// Ports have been looked at. Filters are those with the identity of a flow, Foreign are made by somebody else and left alone.
	Ports, Filters, Foreign int
	// Orphans belong to flows that Open vSwitch does not know (any more) as filters of TC. They are proven: there before and after two dumps of
	// its flows, and in neither of them.
	Orphans []netlink.Filter
}

// Audit compares the filters at the ports with the flows of a dump. Flows come and go in between, so it looks again at what seems orphaned. With a
// line in a dump that it cannot read it proves nothing, and fails. classifiers is Classifiers but in tests on a kernel that lacks them.
func Audit(ctx context.Context, kernel Kernel, dump func(context.Context) ([]byte, error), ports, classifiers []string) (Report, error) {
	report := Report{}
	before, err := kernel.Filters(ctx, ports)
	if err != nil {
		return report, fmt.Errorf("the filters of TC cannot be read: %w", err)
	}
	report.Ports = len(before)
	var suspects []netlink.Filter
	for _, filters := range before {
		for _, filter := range filters {
			if !slices.Contains(classifiers, filter.Kind) || filter.UFID() == "" {
				report.Foreign++
				continue
			}
			report.Filters++
			suspects = append(suspects, filter)
		}
	}
	for range 2 {
		if len(suspects) == 0 {
			return report, nil
		}
		text, err := dump(ctx)
		if err != nil {
			return report, err
		}
		known, unreadable := inTC(text)
		if unreadable > 0 {
			return report, fmt.Errorf("%d lines of the flow dump cannot be read, so no filter is proven to be orphaned", unreadable)
		}
		suspects = slices.DeleteFunc(suspects, func(f netlink.Filter) bool { return known[f.UFID()] })
	}
	if len(suspects) > 0 {
		if suspects, err = StillThere(ctx, kernel, suspects); err != nil {
			return report, err
		}
	}
	slices.SortFunc(suspects, func(a, b netlink.Filter) int { return strings.Compare(a.String(), b.String()) })
	report.Orphans = suspects
	return report, nil
}

// StillThere returns those of the filters that the kernel has now, with the same flow.
func StillThere(ctx context.Context, kernel Kernel, filters []netlink.Filter) ([]netlink.Filter, error) {
	var ports []string
	for _, filter := range filters {
		if !slices.Contains(ports, filter.Netdev) {
			ports = append(ports, filter.Netdev)
		}
	}
	now, err := kernel.Filters(ctx, ports)
	if err != nil {
		return nil, fmt.Errorf("the filters of TC cannot be read: %w", err)
	}
	there := map[string]string{}
	for _, found := range now {
		for _, filter := range found {
			there[filter.String()] = filter.Cookie
		}
	}
	return slices.DeleteFunc(slices.Clone(filters), func(f netlink.Filter) bool {
		cookie, found := there[f.String()]
		return !found || cookie != f.Cookie
	}), nil
}

// Summary is the report in one sentence.
func (r Report) Summary() string {
	if len(r.Orphans) == 0 {
		return fmt.Sprintf("no orphaned TC filter (%d filters at %d ports)", r.Filters, r.Ports)
	}
	ports := map[string]int{}
	for _, orphan := range r.Orphans {
		ports[orphan.Netdev]++
	}
	return fmt.Sprintf("%d orphaned TC filters of %d, at %s", len(r.Orphans), r.Filters, list(ports))
}

// list names the first ports in order.
func list(ports map[string]int) string {
	const most = 5
	var names []string
	for name := range ports {
		names = append(names, name)
	}
	slices.Sort(names)
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}

var ufidPrefix = []byte("ufid:")

// inTC reads a dump and returns the identities of the flows that Open vSwitch says are filters of TC, and how many lines that should be flows
// could not be read. A dump that names no layer (before Open vSwitch 2.10) may mean any of its flows.
func inTC(dump []byte) (flows map[string]bool, unreadable int) {
	flows = map[string]bool{}
	var flow dpctl.Flow
	for line := range bytes.Lines(dump) {
		line = bytes.TrimSpace(line)
		switch err := dpctl.ParseLine(line, &flow); {
		case errors.Is(err, dpctl.ErrNotAFlow):
		case err != nil:
			unreadable++
		case len(flow.Layer) == 0 || string(flow.Layer) == "tc":
			if ufid, ok := bytes.CutPrefix(line, ufidPrefix); ok {
				flows[string(ufid[:bytes.IndexByte(ufid, ',')])] = true
			}
		}
	}
	return flows, unreadable
}
