package remedies

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/wallwatch/wallwatch/collectors/agent/kernel"
	"github.com/wallwatch/wallwatch/collectors/internal/netlink"
)

// GroupVFRate puts virtual functions into a new rate group of their RNIC (a node of devlink's rates), whose limit and guarantee hold for all of
// them together: several noisy containers of one tenant get one limit, or several small ones one guarantee. It never changes a group that is there,
// so an undo deletes only a group that it made.
type GroupVFRate struct{ rates vfRates }

const (
	mostGroupedVFs = 64
	// vfsLength is that of so many numbers of four digits, with commas.
	vfsLength   = mostGroupedVFs*5 - 1
	groupLength = 31
	highestVF   = 1_023
)

// Spec implements Remedy. The bounds of the rates are those of limit-vf-rate and guarantee-vf-rate.
func (g *GroupVFRate) Spec() Spec {
	limitMinimum, limitMaximum := bounds(10, 800_000)
	guaranteeMinimum, guaranteeMaximum := bounds(1, 800_000)
	return Spec{
		Action:       "group-vf-rate",
		Operations:   []string{"dry_run", "apply", "undo"},
		RequireAnyOf: []string{"max_tx_mbps", "min_tx_mbps"},
		Params: []ParamSpec{
			pciParam(),
			{Name: "group", Type: KindText, Unit: "none", Required: true, MaxLength: groupLength, Pattern: `^[a-z][a-z0-9-]{0,30}$`},
			{Name: "vfs", Type: KindText, Unit: "none", Required: true, MaxLength: vfsLength, Pattern: `^[0-9]{1,4}(,[0-9]{1,4}){0,63}$`},
			{Name: "max_tx_mbps", Type: KindInteger, Unit: "Mbit/s", Minimum: limitMinimum, Maximum: limitMaximum},
			{Name: "min_tx_mbps", Type: KindInteger, Unit: "Mbit/s", Minimum: guaranteeMinimum, Maximum: guaranteeMaximum},
		},
	}
}

// Precondition implements Remedy: each VF has a rate object, the name is free, and the guarantees fit into the group and on the port.
func (g *GroupVFRate) Precondition(_ context.Context, params Params) error {
	if g.rates.Kernel == nil {
		return refuse("this agent cannot reach the kernel's network settings; set `netlink` in its configuration")
	}
	pci := params.Text("pci")
	if err := physicalFunction(g.rates.SysfsRoot, pci); err != nil {
		return err
	}
	wanted, err := wantedGroup(params)
	if err != nil {
		return err
	}
	objects, err := g.objects()
	if err != nil {
		return refuse("%v", err)
	}
	if _, taken := objects.node(pci, wanted.name); taken {
		return refuse("%s has a rate group %q already, which this action does not change; choose another name, or undo what made it", pci, wanted.name)
	}
	for _, vf := range wanted.vfs {
		if _, found := objects.leaf(pci, vf); !found {
			return refuse("%s vf %d has no rate object in devlink: groups need the eSwitch mode switchdev "+
				"(devlink dev eswitch show pci/%s), and a driver and firmware with rate objects", pci, vf, pci)
		}
	}
	port, err := (&GuaranteeVFRate{g.rates}).port(pci, wanted.vfs[0])
	if err != nil {
		return refuse("%v", err)
	}
	if err := wanted.fits(port, objects[pci]); err != nil {
		return refuse("%v", err)
	}
	return nil
}

// Plan implements Remedy: the group is made with its rates in one step, then each VF moves.
func (g *GroupVFRate) Plan(_ context.Context, params Params, _ Origin) (Plan, error) {
	wanted, err := wantedGroup(params)
	if err != nil {
		return Plan{}, err
	}
	objects, err := g.objects()
	if err != nil {
		return Plan{}, err
	}
	pci := params.Text("pci")
	changes := []Change{{Key: groupKey{pci: pci, node: wanted.name}.String(), After: text(wanted.nodeRates().String())}}
	for _, vf := range wanted.vfs {
		leaf, found := objects.leaf(pci, vf)
		if !found {
			return Plan{}, refuse("%s vf %d: %v", pci, vf, errNoLeaf)
		}
		changes = append(changes, Change{Key: groupKey{pci: pci, vf: vf}.String(), Before: parentOf(leaf), After: text(wanted.name)})
	}
	return describedGroups(changes)
}

// Apply implements Remedy. Where a step fails, those before it are reversed, so that VFs are not left in a group that is half full.
func (g *GroupVFRate) Apply(ctx context.Context, plan Plan) error {
	objects, err := g.objects()
	if err != nil {
		return err
	}
	for i, change := range plan.Changes {
		err := g.make(ctx, objects, change)
		if err == nil {
			notesOf(ctx).progress(i+1, len(plan.Changes))
			continue
		}
		ctx = context.WithoutCancel(ctx)
		for _, made := range slices.Backward(plan.Changes[:i]) {
			if back := g.make(ctx, objects, Change{Key: made.Key, Before: made.After, After: made.Before}); back != nil {
				return fmt.Errorf("%w; and what was done before could not be reversed (undo it): %w", err, back)
			}
		}
		return err
	}
	return nil
}

// make carries out one change of a plan.
func (g *GroupVFRate) make(ctx context.Context, objects rateObjects, change Change) error {
	key, err := parseGroupKey(change.Key)
	switch {
	case err != nil:
		return err
	case equal(change.Before, change.After):
		return nil
	case key.node == "":
		leaf, found := objects.leaf(key.pci, key.vf)
		if !found {
			return fmt.Errorf("%s vf %d: %w", key.pci, key.vf, errNoLeaf)
		}
		return g.move(ctx, key.pci, leaf.Port, change)
	case change.After == nil:
		return g.rates.Kernel.DeleteRateNode(ctx, key.pci, key.node)
	}
	rates, err := parseNodeRates(*change.After)
	if err != nil {
		return err
	}
	return g.rates.Kernel.AddRateNode(ctx, key.pci, key.node, rates.shareBps, rates.maxBps)
}

// move brings a leaf from one node to another, on older kernels by way of none.
func (g *GroupVFRate) move(ctx context.Context, pci string, port uint32, change Change) error {
	from, to := nameOf(change.Before), nameOf(change.After)
	err := g.rates.Kernel.SetRateParent(ctx, pci, port, to)
	if !errors.Is(err, kernel.ErrHasParent) {
		return err
	}
	if err := g.rates.Kernel.SetRateParent(ctx, pci, port, ""); err != nil {
		return err
	}
	err = g.rates.Kernel.SetRateParent(ctx, pci, port, to)
	if err != nil && from != "" {
		err = errors.Join(err, g.rates.Kernel.SetRateParent(context.WithoutCancel(ctx), pci, port, from))
	}
	return err
}

// Verify implements Remedy. A stand-in for the kernel shows a change a moment later.
func (g *GroupVFRate) Verify(ctx context.Context, plan Plan) error {
	return settled(ctx, func() error { return verify(ctx, plan, g.reader()) })
}

// Undo implements Remedy: each VF goes back to the group that it was in, or to none, and the group is deleted. A VF that is in no group now was left
// there by an interruption, or by somebody who wanted it out of this group; it goes back too. One whose rate object has gone, with its
// eSwitch's mode or the VF itself, is in no group.
func (g *GroupVFRate) Undo(ctx context.Context, done Plan) (Plan, error) {
	objects, err := g.objects()
	if err != nil {
		return Plan{}, refuse("%v", err)
	}
	read := objects.read
	var remaining Plan
	for _, change := range slices.Backward(done.Changes) { // the VFs before the group
		key, err := parseGroupKey(change.Key)
		if err != nil {
			return Plan{}, err
		}
		if _, err := read(ctx, change.Key); errors.Is(err, errNoLeaf) {
			continue
		}
		remaining.Changes = append(remaining.Changes, change)
		if err := objects.reversible(key, change, done); err != nil {
			return Plan{}, err
		}
	}
	changes, err := reverse(ctx, remaining, func(ctx context.Context, text string) (*string, error) {
		now, err := read(ctx, text)
		if key, _ := parseGroupKey(text); err == nil && now == nil && key.node == "" {
			return afterOf(done, text), nil
		}
		return now, err
	})
	if err != nil {
		return Plan{}, err
	}
	for i, change := range changes { // where it is in truth
		if changes[i].Before, err = read(ctx, change.Key); err != nil {
			return Plan{}, refuse("%v", err)
		}
	}
	changes = slices.DeleteFunc(changes, func(change Change) bool { return equal(change.Before, change.After) })
	if len(changes) == 0 {
		return Plan{}, Refusal{Code: CodeNothingToUndo, Message: "the host already has the values from before this remedy"}
	}
	return describedGroups(changes)
}

// Observe implements Remedy.
func (g *GroupVFRate) Observe(ctx context.Context, plan Plan) (Effect, error) {
	return observe(ctx, plan, g.reader())
}

func (g *GroupVFRate) objects() (rateObjects, error) {
	if g.rates.Kernel == nil {
		return nil, errors.New("this agent cannot reach devlink; set `netlink` in its configuration")
	}
	rates, err := g.rates.Kernel.Rates(false)
	if err != nil && !errors.Is(err, netlink.ErrUnsupported) {
		return nil, fmt.Errorf("devlink's rates cannot be read: %w", err)
	}
	return rates, nil
}

// reader asks devlink once, for all keys of a plan.
func (g *GroupVFRate) reader() reader {
	var objects rateObjects
	return func(ctx context.Context, key string) (*string, error) {
		if objects == nil {
			var err error
			if objects, err = g.objects(); err != nil {
				return nil, err
			}
		}
		return objects.read(ctx, key)
	}
}

// groupOrder is what an order asks for, in the units of its parameters.
type groupOrder struct {
	name         string
	vfs          []int
	limit, least uint64 // Mbit/s; 0 is none
}

// wantedGroup reads the parameters, whose texts match the spec.
func wantedGroup(params Params) (groupOrder, error) {
	limit, _ := params.Integer("max_tx_mbps")
	least, _ := params.Integer("min_tx_mbps")
	wanted := groupOrder{name: params.Text("group"), limit: uint64(limit), least: uint64(least)} //nolint:gosec // G115: the spec has bounds
	for number := range strings.SplitSeq(params.Text("vfs"), ",") {
		vf, err := strconv.Atoi(number)
		switch {
		case err != nil || vf > highestVF:
			return wanted, badParameter("vfs must be numbers from 0 to %d, separated by commas, not %s", highestVF, clip(number))
		case slices.Contains(wanted.vfs, vf):
			return wanted, badParameter("vfs names VF %d more than once", vf)
		}
		wanted.vfs = append(wanted.vfs, vf)
	}
	return wanted, nil
}

func (o groupOrder) nodeRates() nodeRates {
	return nodeRates{shareBps: o.least * netlink.BpsPerMbps, maxBps: o.limit * netlink.BpsPerMbps}
}
