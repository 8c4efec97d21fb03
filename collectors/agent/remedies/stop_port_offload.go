package remedies

import (
	"context"
	"errors"
	"time"

	"github.com/wallwatch/wallwatch/collectors/internal/netlink"
)

// StopPortOffload takes what one virtual function sends out of the hardware, and keeps it out, while all other ports stay offloaded. It is for a
// container whose flows fill what the card has room for: encapsulation contexts (symptom S8; paper, section 3.2) or insertions (S2).
type StopPortOffload struct{ ports portOffload }

// Spec implements Remedy. A VF's number is below 1,024 on every driver.
func (s *StopPortOffload) Spec() Spec {
	minimum, maximum := bounds(0, 1_023)
	return Spec{
		Action:       "stop-port-offload",
		Operations:   []string{"dry_run", "apply", "undo"},
		RequireAnyOf: []string{},
		Params:       []ParamSpec{pciParam(), {Name: "vf", Type: KindInteger, Unit: "none", Required: true, Minimum: minimum, Maximum: maximum}},
	}
}

// Precondition implements Remedy: the VF must have a port in the datapath that is offloaded now, and a card that answers.
func (s *StopPortOffload) Precondition(ctx context.Context, params Params) error {
	if err := s.ports.usable(params.Text("pci")); err != nil {
		return err
	}
	port, err := s.port(params)
	if err != nil {
		return err
	}
	switch now, err := s.ports.read(ctx, port); {
	case err != nil:
		return refuse("%v", err)
	case equal(now[port], text(netlink.Off)):
		return refuse("the offload of %s is switched off already", port)
	}
	return nil
}

// port is the representor of the VF.
func (s *StopPortOffload) port(params Params) (string, error) {
	pci := params.Text("pci")
	wanted, _ := params.Integer("vf")
	representors, err := s.ports.representors(pci)
	if err != nil {
		return "", refuse("the network devices of %s cannot be read: %v", pci, err)
	}
	for name, representor := range representors {
		if int64(representor.VF) == wanted {
			return name, nil
		}
	}
	return "", refuse("VF %d of %s has no representor; is the eSwitch in the mode switchdev?", wanted, pci)
}

// Plan implements Remedy.
func (s *StopPortOffload) Plan(ctx context.Context, params Params, _ Origin) (plan Plan, err error) {
	port, err := s.port(params)
	if err != nil {
		return Plan{}, err
	}
	table, numbers, err := s.ports.flows.open(ctx, params.Text("pci"))
	if err != nil {
		return Plan{}, err
	}
	defer func() { err = errors.Join(err, table.Close()) }()
	member := false
	for _, name := range numbers {
		member = member || name == port
	}
	if !member {
		return Plan{}, refuse("%s is no port of Open vSwitch's datapath", port)
	}
	snapshot, err := read(ctx, table, numbers)
	if err != nil {
		return Plan{}, err
	}
	return s.ports.stop(snapshot, numbers, []string{port}), nil
}

// Apply implements Remedy.
func (s *StopPortOffload) Apply(ctx context.Context, plan Plan) error {
	return s.ports.apply(ctx, plan)
}

// Verify implements Remedy.
func (s *StopPortOffload) Verify(ctx context.Context, plan Plan) error {
	return s.ports.verify(ctx, plan)
}

// Undo implements Remedy.
func (s *StopPortOffload) Undo(ctx context.Context, done Plan) (Plan, error) {
	return s.ports.undo(ctx, done)
}

// Observe implements Remedy.
func (s *StopPortOffload) Observe(ctx context.Context, plan Plan) (Effect, error) {
	return s.ports.observe(ctx, plan)
}

// Patience is how long it may take: a port may have thousands of flows.
func (s *StopPortOffload) Patience() time.Duration { return portPatience }

// ChangesFlows has the filters of TC audited before and after.
func (s *StopPortOffload) ChangesFlows() {}
