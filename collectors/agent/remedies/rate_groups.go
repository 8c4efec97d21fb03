package remedies

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/wallwatch/wallwatch/collectors/internal/netlink"
	"github.com/wallwatch/wallwatch/collectors/internal/sysfs"
)

// groupKey names a rate group of an RNIC, or the group that a VF is in.
type groupKey struct {
	pci  string
	node string // "" for a VF
	vf   int
}

// String is the key in plans and journals.
func (k groupKey) String() string {
	if k.node != "" {
		return k.pci + " rate group " + k.node
	}
	return k.pci + " rate group of vf " + strconv.Itoa(k.vf)
}

func parseGroupKey(key string) (groupKey, error) {
	pci, rest, found := strings.Cut(key, " rate group ")
	number, isVF := strings.CutPrefix(rest, "of vf ")
	parsed := groupKey{pci: pci, node: rest}
	var err error
	if isVF {
		parsed.node = ""
		parsed.vf, err = strconv.Atoi(number)
	}
	if !found || err != nil || rest == "" || parsed.vf < 0 || !sysfs.IsPCIAddress(pci) {
		return groupKey{}, fmt.Errorf("the plan names %q, which is not a rate group", key)
	}
	return parsed, nil
}

// nodeRates are the rates of a group, in bytes per second; 0 is none.
type nodeRates struct{ shareBps, maxBps uint64 }

const nodeRatesForm = "tx_share %d tx_max %d"

// String is the value in plans and journals.
func (r nodeRates) String() string { return fmt.Sprintf(nodeRatesForm, r.shareBps, r.maxBps) }

func parseNodeRates(value string) (nodeRates, error) {
	var rates nodeRates
	if _, err := fmt.Sscanf(value, nodeRatesForm, &rates.shareBps, &rates.maxBps); err != nil || rates.String() != value {
		return nodeRates{}, fmt.Errorf("the plan has %q as the rates of a group", value)
	}
	return rates, nil
}

// words are the rates as operators give them.
func (r nodeRates) words() string {
	var rates []string
	if r.maxBps > 0 {
		rates = append(rates, fmt.Sprintf("at most %.6g Mbit/s", float64(r.maxBps)/netlink.BpsPerMbps))
	}
	if r.shareBps > 0 {
		rates = append(rates, fmt.Sprintf("%.6g Mbit/s guaranteed", float64(r.shareBps)/netlink.BpsPerMbps))
	}
	return strings.Join(rates, ", ")
}

// rateObjects are those of all RNICs, by PCI address.
type rateObjects map[string][]netlink.Rate

func (o rateObjects) leaf(pci string, vf int) (netlink.Rate, bool) {
	return first(o[pci], func(rate netlink.Rate) bool { return rate.Node == "" && rate.VF == vf })
}

func (o rateObjects) node(pci, name string) (netlink.Rate, bool) {
	return first(o[pci], func(rate netlink.Rate) bool { return rate.Node == name })
}

func first(rates []netlink.Rate, is func(netlink.Rate) bool) (netlink.Rate, bool) {
	if i := slices.IndexFunc(rates, is); i >= 0 {
		return rates[i], true
	}
	return netlink.Rate{}, false
}

// read is a reader: the rates of a group, or the name of a VF's group; nil where there is none.
func (o rateObjects) read(_ context.Context, text string) (*string, error) {
	key, err := parseGroupKey(text)
	if err != nil {
		return nil, err
	}
	if key.node == "" {
		leaf, found := o.leaf(key.pci, key.vf)
		if !found {
			return nil, fmt.Errorf("%s vf %d: %w", key.pci, key.vf, errNoLeaf)
		}
		return parentOf(leaf), nil
	}
	node, found := o.node(key.pci, key.node)
	if !found {
		return nil, nil //nolint:nilnil // absent is a value of a key
	}
	rates := nodeRates{shareBps: node.ShareBps, maxBps: node.MaxBps}.String()
	return &rates, nil
}

// reversible refuses an undo that could not be carried out: a VF's former group has gone, or others have put something into the group.
func (o rateObjects) reversible(key groupKey, change Change, done Plan) error {
	if key.node == "" {
		former := nameOf(change.Before)
		if _, found := o.node(key.pci, former); former != "" && !found {
			return refuse("%s vf %d was in the rate group %q, which has been deleted since; create it again first (devlink port function rate add pci/%s/%s)",
				key.pci, key.vf, former, key.pci, former)
		}
		return nil
	}
	for _, rate := range o[key.pci] {
		if rate.Parent != key.node {
			continue
		}
		if member := (groupKey{pci: key.pci, vf: rate.VF}).String(); rate.Node != "" || afterOf(done, member) == nil {
			return refuse("the rate group %q of %s has a member that this remedy did not put there (%s); move it out first",
				key.node, key.pci, memberName(rate))
		}
	}
	return nil
}

func memberName(rate netlink.Rate) string {
	switch {
	case rate.Node != "":
		return "the group " + rate.Node
	case rate.VF >= 0:
		return "VF " + strconv.Itoa(rate.VF)
	}
	return "port " + strconv.FormatUint(uint64(rate.Port), 10)
}

func parentOf(leaf netlink.Rate) *string {
	if leaf.Parent == "" {
		return nil
	}
	return &leaf.Parent
}

func nameOf(parent *string) string {
	if parent == nil {
		return ""
	}
	return *parent
}

// afterOf is what a plan sets a key to, nil where it does not have the key.
func afterOf(plan Plan, key string) *string {
	for _, change := range plan.Changes {
		if change.Key == key {
			return change.After
		}
	}
	return nil
}

// fits says why the group cannot have its rates: its members' own guarantees must fit into its limit, and what the port has guaranteed with the
// new group must fit on the port. A group takes the larger of its own guarantee and those of its members from the port.
func (o groupOrder) fits(port portRates, objects []netlink.Rate) error {
	members := 0.0
	for _, vf := range o.vfs {
		members += port.guarantees[vf]
	}
	limit, least := float64(o.limit), float64(o.least)
	switch {
	case o.limit > 0 && least > limit:
		return fmt.Errorf("the group's guarantee of %.6g Mbit/s is above its limit of %.6g Mbit/s", least, limit)
	case o.limit > 0 && members > limit:
		return fmt.Errorf("the VFs are guaranteed %.6g Mbit/s together, and the group would limit them to %.6g Mbit/s; lower their guarantees first",
			members, limit)
	}
	before, after := reserved(port, objects), reserved(port, o.with(objects))
	if after > before && after > port.speed {
		return fmt.Errorf("the guarantees of the port would add up to %.6g Mbit/s with %.6g for the group, and %s has %.6g Mbit/s; lower another guarantee first",
			after, math.Max(least, members), port.netdev, port.speed)
	}
	return nil
}

// with are the rate objects as they will be.
func (o groupOrder) with(objects []netlink.Rate) []netlink.Rate {
	changed := slices.Clone(objects)
	for i, rate := range changed {
		if rate.Node == "" && slices.Contains(o.vfs, rate.VF) {
			changed[i].Parent = o.name
		}
	}
	return append(changed, netlink.Rate{Node: o.name, VF: -1, ShareBps: o.nodeRates().shareBps})
}

// reserved is what a port has guaranteed, in Mbit/s. A VF without a rate object is in no group.
func reserved(port portRates, objects []netlink.Rate) float64 {
	leaves := map[int]bool{}
	for _, rate := range objects {
		if rate.Node == "" && rate.VF >= 0 {
			leaves[rate.VF] = true
		}
	}
	total := reservedBy("", port, objects, len(objects))
	for vf, guarantee := range port.guarantees {
		if !leaves[vf] {
			total += guarantee
		}
	}
	return total
}

// reservedBy is what the members of a group reserve together; depth ends a circle of parents, which a kernel has not, but a captured file may.
func reservedBy(group string, port portRates, objects []netlink.Rate, depth int) float64 {
	total := 0.0
	for _, rate := range objects {
		switch {
		case rate.Parent != group || depth == 0:
		case rate.Node != "":
			total += math.Max(float64(rate.ShareBps)/netlink.BpsPerMbps, reservedBy(rate.Node, port, objects, depth-1))
		case rate.VF >= 0:
			total += port.guarantees[rate.VF]
		}
	}
	return total
}

func describedGroups(changes []Change) (Plan, error) {
	operations := make([]Operation, 0, len(changes))
	for _, change := range changes {
		operation, err := describeGroup(change)
		if err != nil {
			return Plan{}, err
		}
		operations = append(operations, operation)
	}
	return Plan{Changes: changes, Operations: operations}, nil
}

func describeGroup(change Change) (Operation, error) {
	key, err := parseGroupKey(change.Key)
	if err != nil {
		return Operation{}, err
	}
	operation := Operation{Target: "devlink " + change.Key, Operation: "set", Before: change.Before, After: change.After}
	from, to := nameOf(change.Before), nameOf(change.After)
	switch {
	case key.node != "" && change.After == nil:
		operation.Operation = "delete"
		operation.Text = fmt.Sprintf("Delete the rate group %s of %s, which this remedy made", key.node, key.pci)
	case key.node != "":
		rates, err := parseNodeRates(to)
		if err != nil {
			return Operation{}, err
		}
		operation.Operation = "create"
		operation.Text = fmt.Sprintf("Create the rate group %s of %s (%s for all of its VFs together)", key.node, key.pci, rates.words())
	case to == "":
		operation.Text = fmt.Sprintf("Move %s vf %d out of the rate group %s; it was in none before", key.pci, key.vf, from)
	case from == "":
		operation.Text = fmt.Sprintf("Move %s vf %d, which is in no rate group now, into %s", key.pci, key.vf, to)
	default:
		operation.Text = fmt.Sprintf("Move %s vf %d from the rate group %s to %s", key.pci, key.vf, from, to)
	}
	return operation, nil
}
