package remedies

import (
	"context"
	"errors"

	"github.com/wallwatch/wallwatch/collectors/internal/netlink"
)

// StopPortOffload takes what one virtual function sends out of the hardware, and keeps it out, while all other ports stay offloaded. It is for a
// container whose flows fill what the card has room for: encapsulation contexts (symptom S8; paper, section 3.2) or insertions (S2).
type StopPortOffload struct{ portOffload }

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
	if err := s.usable(params.Text("pci")); err != nil {
		return err
	}
	port, err := s.port(params)
	if err != nil {
		return err
	}
	switch now, err := s.read(ctx, port); {
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
	representors, err := s.representors(pci)
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
	table, numbers, err := s.flows.open(ctx, params.Text("pci"))
	if err != nil {
		return Plan{}, err
	}
	defer func() { err = errors.Join(err, table.Close()) }()
	member := false
	for _, name := range numbers {
		member = member || name == port
	}
	if !member {
		return Plan{}, refuse("%s is not a port of Open vSwitch's datapath", port)
	}
	snapshot, err := read(ctx, table, numbers)
	if err != nil {
		return Plan{}, err
	}
	return s.stop(snapshot, numbers, []string{port}), nil
}
