package remedies

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/wallwatch/wallwatch/collectors/agent/cordon"
	"github.com/wallwatch/wallwatch/collectors/internal/sysfs"
)

// CordonRNIC keeps new VFs off an RNIC: it writes a file that the CNI plugin in the chain reads, which then refuses ADD with the code 11
// ("try again later"). Containers that already have a VF of the RNIC keep it.
type CordonRNIC struct {
	SysfsRoot string
	Dir       string
}

// pciPattern is the form in which the telemetry names an RNIC: domain:bus:device.function in lower case. Nothing else may become part of a path.
const pciPattern = `^[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$`

// Spec implements Remedy.
func (c *CordonRNIC) Spec() Spec {
	return Spec{
		Action:       "cordon-rnic",
		Operations:   []string{"dry_run", "apply", "undo"},
		RequireAnyOf: []string{},
		Params: []ParamSpec{
			{Name: "pci", Type: KindText, Unit: "none", Required: true, MaxLength: 12, Pattern: pciPattern},
			{Name: "reason", Type: KindText, Unit: "none", Required: true, MaxLength: 200},
		},
	}
}

// Precondition implements Remedy: the address must be a physical function of this host.
func (c *CordonRNIC) Precondition(_ context.Context, params Params) error {
	pci := params.Text("pci")
	physical, err := sysfs.Root{Path: c.SysfsRoot}.PhysFn(pci)
	switch {
	case errors.Is(err, sysfs.ErrNotVF):
		return nil
	case err == nil:
		return Refusal{Code: CodePreconditionFailed, Message: fmt.Sprintf(
			"%s is a virtual function; cordon its physical function %s instead", pci, physical)}
	case errors.Is(err, fs.ErrNotExist):
		return Refusal{Code: CodePreconditionFailed, Message: fmt.Sprintf("this host has no PCI device %s", pci)}
	default:
		return Refusal{Code: CodePreconditionFailed, Message: fmt.Sprintf("PCI device %s cannot be looked up: %v", pci, err)}
	}
}

// Plan implements Remedy.
func (c *CordonRNIC) Plan(ctx context.Context, params Params, origin Origin) (Plan, error) {
	pci := params.Text("pci")
	before, err := c.read(ctx, pci)
	if err != nil {
		return Plan{}, err
	}
	content, err := json.Marshal(cordon.Record{
		PCI: pci, Reason: params.Text("reason"), RemedyID: origin.RemedyID, CommandID: origin.CommandID, At: origin.IssuedAt,
	})
	if err != nil {
		return Plan{}, err
	}
	changes := []Change{{Key: pci, Before: before, After: text(string(content))}}
	return Plan{Changes: changes, Operations: c.describe(changes)}, nil
}

// Apply implements Remedy. A plan of this remedy has one change, so that one rename makes it whole.
func (c *CordonRNIC) Apply(_ context.Context, plan Plan) error {
	for _, change := range plan.Changes {
		if !sysfs.IsPCIAddress(change.Key) {
			return fmt.Errorf("the plan names %q, which is not a PCI address", change.Key)
		}
		if change.After == nil {
			if err := cordon.Remove(c.Dir, change.Key); err != nil {
				return err
			}
			continue
		}
		if err := cordon.Write(c.Dir, change.Key, []byte(*change.After)); err != nil {
			return err
		}
	}
	return nil
}

// Verify implements Remedy.
func (c *CordonRNIC) Verify(ctx context.Context, plan Plan) error { return verify(ctx, plan, c.read) }

// Undo implements Remedy: the RNIC is free again, or has the earlier cordon back when there was one.
func (c *CordonRNIC) Undo(ctx context.Context, done Plan) (Plan, error) {
	changes, err := reverse(ctx, done, c.read)
	if err != nil {
		return Plan{}, err
	}
	return Plan{Changes: changes, Operations: c.describe(changes)}, nil
}

// Observe implements Remedy.
func (c *CordonRNIC) Observe(ctx context.Context, plan Plan) (Effect, error) {
	return observe(ctx, plan, c.read)
}

func (c *CordonRNIC) read(_ context.Context, pci string) (*string, error) {
	if !sysfs.IsPCIAddress(pci) {
		return nil, fmt.Errorf("%q is not a PCI address", pci)
	}
	content, err := os.ReadFile(cordon.Path(c.Dir, pci))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return text(string(content)), nil
}

func (c *CordonRNIC) describe(changes []Change) []Operation {
	operations := make([]Operation, 0, len(changes))
	for _, change := range changes {
		operation := Operation{Target: cordon.Path(c.Dir, change.Key), Operation: "write", Before: change.Before, After: change.After}
		switch {
		case change.After == nil:
			operation.Operation = "remove"
			operation.Text = fmt.Sprintf("Remove the cordon file of %s, so that the CNI plugin lets new VFs onto it again", change.Key)
		case change.Before == nil:
			operation.Text = fmt.Sprintf("Write the cordon file of %s; from then on the CNI plugin refuses new VFs on it with the code 11", change.Key)
		default:
			operation.Text = fmt.Sprintf("Replace the cordon file of %s; it stays cordoned, with another reason", change.Key)
		}
		operations = append(operations, operation)
	}
	return operations
}
