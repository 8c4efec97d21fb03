package remedies

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/wallwatch/wallwatch/collectors/agent/flowtable"
	"github.com/wallwatch/wallwatch/collectors/internal/ovs/dpctl"
)

// CapEncapContexts brings the encapsulation contexts of an RNIC below a limit, so that its buffer does not fill (symptom S8, and S2 that follows; paper,
// sections 3.2 and 4.2). Neither drivers nor Open vSwitch know such a limit. What can be done is to take those ports out of the hardware whose flows
// need most contexts: their flows are then encapsulated by software, which has no such buffer. Ports that stay may still make new ones.
type CapEncapContexts struct{ portOffload }

// Spec implements Remedy. No card of the profiles has room for a million contexts; max_ports is the most containers that may get slow.
func (c *CapEncapContexts) Spec() Spec {
	contextsMinimum, contextsMaximum := bounds(1, 1_000_000)
	portsMinimum, portsMaximum := bounds(1, 1_024)
	return Spec{
		Action:       "cap-encap-contexts",
		Operations:   []string{"dry_run", "apply", "undo"},
		RequireAnyOf: []string{},
		Params: []ParamSpec{
			pciParam(),
			{Name: "max_contexts", Type: KindInteger, Unit: "contexts", Required: true, Minimum: contextsMinimum, Maximum: contextsMaximum},
			{Name: "max_ports", Type: KindInteger, Unit: "ports", Required: true, Minimum: portsMinimum, Maximum: portsMaximum},
		},
	}
}

// Precondition implements Remedy: the card must answer. Whether it has too many contexts is known from its flows, in Plan.
func (c *CapEncapContexts) Precondition(_ context.Context, params Params) error {
	return c.usable(params.Text("pci"))
}

// Plan implements Remedy: it chooses the ports by the present flows.
func (c *CapEncapContexts) Plan(ctx context.Context, params Params, _ Origin) (plan Plan, err error) {
	pci := params.Text("pci")
	most, _ := params.Integer("max_contexts")
	mostPorts, _ := params.Integer("max_ports")
	table, numbers, err := c.flows.open(ctx, pci)
	if err != nil {
		return Plan{}, err
	}
	defer func() { err = errors.Join(err, table.Close()) }()
	snapshot, err := read(ctx, table, numbers)
	if err != nil {
		return Plan{}, err
	}
	if snapshot.Unreadable > 0 {
		return Plan{}, refuse("%d lines of the flow dump cannot be read, so that contexts cannot be counted", snapshot.Unreadable)
	}
	representors, err := c.representors(pci)
	if err != nil {
		return Plan{}, err
	}
	used := usersOf(snapshot, numbers)
	total := used.total()
	if total <= int(most) {
		return Plan{}, refuse("%s has %d encapsulation contexts in the hardware, which is not above %d", pci, total, most)
	}
	chosen, left := used.choose(int(most), func(port string) bool { _, own := representors[port]; return own })
	switch {
	case left > int(most):
		return Plan{}, refuse("without the offload of any port %s would still have %d encapsulation contexts: they are of its uplink", pci, left)
	case len(chosen) > int(mostPorts):
		return Plan{}, refuse("%d ports would have to leave the hardware to come from %d to %d encapsulation contexts; allowed are %d",
			len(chosen), total, left, mostPorts)
	}
	offloaded, err := c.kernel.TCOffload(ctx, chosen)
	if err != nil {
		return Plan{}, refuse("%v", err)
	}
	for _, port := range chosen {
		if !offloaded[port] {
			return Plan{}, refuse("the offload of %s is switched off, and yet it has flows in the hardware; audit its filters", port)
		}
	}
	plan = c.stop(snapshot, numbers, chosen)
	plan.Operations[0].Text += fmt.Sprintf(" (with all of this plan the RNIC comes from %d to %d encapsulation contexts)", total, left)
	return plan, nil
}

// contextUse is which contexts the ports' flows in the hardware need, and how many packets those flows have had.
type contextUse struct {
	contexts map[string]map[uint64]bool
	packets  map[string]uint64
}

func usersOf(snapshot flowtable.Snapshot, numbers map[string]string) contextUse {
	use := contextUse{map[string]map[uint64]bool{}, map[string]uint64{}}
	var actions dpctl.Actions
	for _, flow := range snapshot.Flows {
		port, own := numbers[flow.InPort]
		if !own || !flow.Hardware {
			continue
		}
		actions.Parse([]byte(flow.Actions))
		for _, encap := range actions.Encaps {
			if use.contexts[port] == nil {
				use.contexts[port] = map[uint64]bool{}
			}
			use.contexts[port][encap] = true
		}
		use.packets[port] += flow.Packets
	}
	return use
}

func (u contextUse) total() int {
	all := map[uint64]bool{}
	for _, contexts := range u.contexts {
		for context := range contexts {
			all[context] = true
		}
	}
	return len(all)
}

// choose returns ports, in order, without which at most so many contexts are left, and how many are. Where one port more is enough, it is the one
// with the fewest packets among those that are; else the one that frees most.
func (u contextUse) choose(most int, allowed func(port string) bool) (chosen []string, left int) {
	users := map[uint64]int{}
	for _, contexts := range u.contexts {
		for context := range contexts {
			users[context]++
		}
	}
	left = len(users)
	var open []string
	for port := range u.contexts {
		if allowed(port) {
			open = append(open, port)
		}
	}
	for left > most && len(open) > 0 {
		frees := func(port string) (count int) {
			for context := range u.contexts[port] {
				if users[context] == 1 {
					count++
				}
			}
			return count
		}
		freed := map[string]int{}
		for _, port := range open {
			freed[port] = frees(port)
		}
		slices.SortFunc(open, func(a, b string) int {
			enoughA, enoughB := left-freed[a] <= most, left-freed[b] <= most
			switch {
			case enoughA && enoughB:
				return cmp.Or(cmp.Compare(u.packets[a], u.packets[b]), cmp.Compare(a, b))
			case enoughA:
				return -1
			case enoughB:
				return 1
			}
			return cmp.Or(cmp.Compare(freed[b], freed[a]), cmp.Compare(len(u.contexts[b]), len(u.contexts[a])), cmp.Compare(a, b))
		})
		port := open[0]
		open = open[1:]
		chosen, left = append(chosen, port), left-freed[port]
		for context := range u.contexts[port] {
			users[context]--
		}
	}
	slices.Sort(chosen)
	return chosen, left
}
