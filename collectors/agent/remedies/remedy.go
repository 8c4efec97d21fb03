// Package remedies holds the actions that the agent can take on its host. They are compiled in, one file each: a command names an action
// and gives typed parameters, it never carries code, paths or shell text.
package remedies

import (
	"context"
	"fmt"

	"github.com/wallwatch/wallwatch/collectors/agent/kernel"
)

// Codes of refusals that a remedy itself can give; the other codes belong to the command decoder.
const (
	CodeBadParameter       = "bad_parameter"
	CodePreconditionFailed = "precondition_failed"
	CodeNothingToUndo      = "nothing_to_undo"
	CodeUnknownAction      = "unknown_action"
)

// Refusal means that nothing was done, and why.
type Refusal struct {
	Code    string
	Message string
}

func (r Refusal) Error() string { return r.Code + ": " + r.Message }

// Origin names the command that asked, for records that a remedy leaves on the host.
type Origin struct {
	CommandID string
	RemedyID  string
	IssuedAt  string
}

// Remedy is one action. Its methods are called by the executor in this order, one command at a time:
//
//	dry run: Precondition, Plan
//	apply:   Precondition, Plan, (journal), Apply, Verify
//	undo:    Undo of the plan in the journal, (journal), Apply, Verify
//
// Observe is called at start for a command that was started but never finished.
type Remedy interface {
	// Spec describes the action and its parameters.
	Spec() Spec
	// Precondition returns a Refusal when the action makes no sense on this host now. It changes nothing.
	Precondition(ctx context.Context, params Params) error
	// Plan reads the present state and says exactly what Apply would change. It changes nothing.
	Plan(ctx context.Context, params Params, origin Origin) (Plan, error)
	// Apply makes the changes of a plan; either all of them or none.
	Apply(ctx context.Context, plan Plan) error
	// Verify reads the host back and fails when it differs from the plan.
	Verify(ctx context.Context, plan Plan) error
	// Undo returns the plan that undoes a finished one, or a Refusal. It changes nothing.
	Undo(ctx context.Context, done Plan) (Plan, error)
	// Observe says how much of a plan is in place.
	Observe(ctx context.Context, plan Plan) (Effect, error)
}

// Registry holds the compiled-in remedies in a fixed order.
type Registry struct {
	remedies []Remedy
	// Auditor finds what remedies leave behind in TC.
	Auditor *Auditor
}

// Host is what remedies act on.
type Host struct {
	Database SwitchDatabase
	// Kernel is nil where the agent has no way to drivers; remedies that need one then refuse.
	Kernel    kernel.Kernel
	SysfsRoot string
	// CordonDir and PaceDir are what the CNI plugin reads.
	CordonDir, PaceDir string
	// Name is the host's, FlowSocket that of ovs-vswitchd, PlanDir keeps the operations of mask plans, and Inbox has those that arrived.
	Name, FlowSocket, PlanDir string
	Inbox                     Inbox
}

// NewRegistry returns every remedy of this build, bound to one host.
func NewRegistry(host Host) *Registry {
	flows := rnicFlows{socket: host.FlowSocket, sysfsRoot: host.SysfsRoot}
	return &Registry{Auditor: NewAuditor(host), remedies: []Remedy{
		&TuneRevalidator{Database: host.Database},
		&CordonRNIC{SysfsRoot: host.SysfsRoot, Dir: host.CordonDir},
		&PaceFlowInsertion{SysfsRoot: host.SysfsRoot, Dir: host.PaceDir},
		&PaceVFUnbinding{SysfsRoot: host.SysfsRoot, Dir: host.PaceDir},
		&LimitVFRate{vfRates{Kernel: host.Kernel, SysfsRoot: host.SysfsRoot}},
		&GuaranteeVFRate{vfRates{Kernel: host.Kernel, SysfsRoot: host.SysfsRoot}},
		&GroupVFRate{vfRates{Kernel: host.Kernel, SysfsRoot: host.SysfsRoot}},
		&RecoverHealth{Kernel: host.Kernel, SysfsRoot: host.SysfsRoot},
		&StopPortOffload{portOffload{host.Kernel, flows}},
		&CapEncapContexts{portOffload{host.Kernel, flows}},
		&RemoveOrphanedFilters{Kernel: host.Kernel, auditor: NewAuditor(host)},
		&ReadFlows{flows: flows},
		&ApplyMaskPlan{flows: flows, store: planStore{host.PlanDir}, inbox: host.Inbox, host: host.Name},
	}}
}

// Find returns the remedy of that name or a Refusal with the code unknown_action.
func (r *Registry) Find(action string) (Remedy, error) {
	for _, remedy := range r.remedies {
		if remedy.Spec().Action == action {
			return remedy, nil
		}
	}
	return nil, Refusal{Code: CodeUnknownAction, Message: fmt.Sprintf("this agent has no action %q; it may be older than the server", action)}
}

// Specs lists what this build can do.
func (r *Registry) Specs() []Spec {
	specs := make([]Spec, 0, len(r.remedies))
	for _, remedy := range r.remedies {
		specs = append(specs, remedy.Spec())
	}
	return specs
}
