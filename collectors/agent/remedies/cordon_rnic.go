package remedies

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/wallwatch/wallwatch/collectors/agent/cordon"
)

// CordonRNIC keeps new VFs off an RNIC: it writes a file that the CNI plugin in the chain reads, which then refuses ADD with the code 11
// ("try again later"). Containers that already have a VF of the RNIC keep it.
type CordonRNIC struct {
	SysfsRoot string
	Dir       string
}

// Spec implements Remedy.
func (c *CordonRNIC) Spec() Spec {
	return Spec{
		Action:       "cordon-rnic",
		Operations:   []string{"dry_run", "apply", "undo"},
		RequireAnyOf: []string{},
		Params: []ParamSpec{
			pciParam(),
			{Name: "reason", Type: KindText, Unit: "none", Required: true, MaxLength: 200},
		},
	}
}

// Precondition implements Remedy: the address must be a physical function of this host.
func (c *CordonRNIC) Precondition(_ context.Context, params Params) error {
	return physicalFunction(c.SysfsRoot, params.Text("pci"))
}

// Plan implements Remedy.
func (c *CordonRNIC) Plan(ctx context.Context, params Params, origin Origin) (Plan, error) {
	pci := params.Text("pci")
	before, err := c.files().read(ctx, pci)
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

// Apply implements Remedy.
func (c *CordonRNIC) Apply(_ context.Context, plan Plan) error { return c.files().apply(plan) }

// Verify implements Remedy.
func (c *CordonRNIC) Verify(ctx context.Context, plan Plan) error {
	return verify(ctx, plan, c.files().read)
}

// Undo implements Remedy: the RNIC is free again, or has the earlier cordon back when there was one.
func (c *CordonRNIC) Undo(ctx context.Context, done Plan) (Plan, error) {
	changes, err := reverse(ctx, done, c.files().read)
	if err != nil {
		return Plan{}, err
	}
	return Plan{Changes: changes, Operations: c.describe(changes)}, nil
}

// Observe implements Remedy.
func (c *CordonRNIC) Observe(ctx context.Context, plan Plan) (Effect, error) {
	return observe(ctx, plan, c.files().read)
}

func (c *CordonRNIC) files() hostFiles {
	return hostFiles{
		path:   func(pci string) string { return cordon.Path(c.Dir, pci) },
		write:  func(pci string, content []byte) error { return cordon.Write(c.Dir, pci, content) },
		remove: func(pci string) error { return cordon.Remove(c.Dir, pci) },
	}
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
