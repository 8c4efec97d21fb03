package remedies

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/wallwatch/wallwatch/collectors/agent/kernel"
	"github.com/wallwatch/wallwatch/collectors/internal/sysfs"
)

// RecoverHealth makes a failed health reporter of devlink recover: for `fw_fatal` of mlx5 the driver resets the card, which is what brings
// back an RNIC that does not respond (symptom S8). It cannot be undone.
type RecoverHealth struct {
	Kernel    kernel.Kernel
	SysfsRoot string
}

const (
	failed  = "error"
	healthy = "healthy"
)

// Spec implements Remedy. A reporter's name is what `devlink health` prints, such as fw, fw_fatal or tx_hang.
func (r *RecoverHealth) Spec() Spec {
	return Spec{
		Action:       "recover-health-reporter",
		Operations:   []string{"dry_run", "apply"},
		RequireAnyOf: []string{},
		Params: []ParamSpec{
			pciParam(),
			{Name: "reporter", Type: KindText, Unit: "none", Required: true, MaxLength: 32, Pattern: `^[a-z][a-z0-9_]{0,31}$`},
		},
	}
}

// Precondition implements Remedy: the reporter must be in its error state; resetting a card that works would harm for nothing.
func (r *RecoverHealth) Precondition(ctx context.Context, params Params) error {
	if r.Kernel == nil {
		return refuse("this agent cannot reach devlink; set `netlink` in its configuration")
	}
	pci := params.Text("pci")
	if err := physicalFunction(r.SysfsRoot, pci); err != nil {
		return err
	}
	state, err := r.read(ctx, pci+" "+params.Text("reporter"))
	switch {
	case err != nil:
		return refuse("%v", err)
	case *state != failed:
		return refuse("the reporter %s of %s is %s; there is nothing to recover", params.Text("reporter"), pci, *state)
	}
	return nil
}

// Plan implements Remedy.
func (r *RecoverHealth) Plan(ctx context.Context, params Params, _ Origin) (Plan, error) {
	key := params.Text("pci") + " " + params.Text("reporter")
	before, err := r.read(ctx, key)
	if err != nil {
		return Plan{}, err
	}
	return Plan{
		Changes: []Change{{Key: key, Before: before, After: text(healthy)}},
		Operations: []Operation{{
			Target: "devlink health of " + key, Operation: "recover", Before: before, After: text(healthy),
			Text: fmt.Sprintf("Recover the health reporter %s of %s; the driver may reset the card, and flows pass through software until they are offloaded again",
				params.Text("reporter"), params.Text("pci")),
		}},
	}, nil
}

// Apply implements Remedy.
func (r *RecoverHealth) Apply(ctx context.Context, plan Plan) error {
	for _, change := range plan.Changes {
		pci, reporter, _ := strings.Cut(change.Key, " ")
		if !sysfs.IsPCIAddress(pci) {
			return fmt.Errorf("the plan names %q, which is not a PCI address", pci)
		}
		if err := r.Kernel.RecoverHealth(ctx, pci, reporter); err != nil {
			return err
		}
	}
	return nil
}

// Verify implements Remedy. A reset takes seconds.
func (r *RecoverHealth) Verify(ctx context.Context, plan Plan) error {
	return settled(ctx, func() error { return verify(ctx, plan, r.read) })
}

// Undo implements Remedy: a card that was reset stays reset.
func (r *RecoverHealth) Undo(context.Context, Plan) (Plan, error) {
	return Plan{}, Refusal{Code: CodeNothingToUndo, Message: "a recovery leaves nothing behind to undo"}
}

// Observe implements Remedy.
func (r *RecoverHealth) Observe(ctx context.Context, plan Plan) (Effect, error) {
	return observe(ctx, plan, r.read)
}

func (r *RecoverHealth) read(_ context.Context, key string) (*string, error) {
	if r.Kernel == nil {
		return nil, errors.New("this agent cannot reach devlink")
	}
	pci, name, _ := strings.Cut(key, " ")
	devices, err := r.Kernel.Health()
	if err != nil {
		return nil, fmt.Errorf("the health reporters cannot be read: %w", err)
	}
	var names []string
	for _, reporter := range devices[pci] {
		if reporter.Name == name {
			if reporter.Failed {
				return text(failed), nil
			}
			return text(healthy), nil
		}
		names = append(names, reporter.Name)
	}
	return nil, fmt.Errorf("%s has no health reporter %q; it has %q", pci, name, names)
}

// ChangesFlows has the filters of TC audited before and after.
func (*RecoverHealth) ChangesFlows() {}
