package remedies

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/wallwatch/wallwatch/collectors/agent/flowtable"
	"github.com/wallwatch/wallwatch/collectors/agent/kernel"
	"github.com/wallwatch/wallwatch/collectors/internal/netlink"
	"github.com/wallwatch/wallwatch/collectors/internal/sysfs"
)

// portOffload is what the remedies have in common that take single ports out of the hardware and give them back; each plans for itself which.
//
// It switches the offload of single ports. Open vSwitch has one switch for the whole host (other_config:hw-offload), and turned off it
// leaves its filters behind. A port of its own has the driver's feature hw-tc-offload: without it the driver refuses a filter, and Open vSwitch
// forwards the flow in software. What is in the hardware by then stays there (mlx5), so the flows are deleted through Open vSwitch, which
// removes their filters and forgets nothing; the next packet of each creates it again, on the side where it now belongs. Only flows whose packets come
// from the port are affected: those that come out of a tunnel to it are filters at the tunnel's port, and need no encapsulation context.
type portOffload struct {
	kernel kernel.Kernel
	flows  rnicFlows
}

const (
	// sweeps bound how often flows are looked for that were on their way into the hardware when it was switched off.
	sweeps = 6
	// switchTries bounds how often to ask a driver that refuses while there are filters in the hardware, since new filters come in between.
	switchTries = 3
	// portTimeout is for some thousand deletions, each a command of the firmware.
	portTimeout = 2 * time.Minute
)

// usable refuses where ports cannot be switched at all, or the card does not answer.
func (p portOffload) usable(pci string) error {
	if p.kernel == nil {
		return refuse("this agent cannot reach the kernel's network settings; set `netlink` in its configuration")
	}
	if p.flows.socket == "" {
		return refuse("this agent has no way to ovs-vswitchd; set `vswitchd_socket` in its configuration")
	}
	if err := physicalFunction(p.flows.sysfsRoot, pci); err != nil {
		return err
	}
	devices, err := p.kernel.Health()
	if err != nil {
		return nil //nolint:nilerr // not every driver has reporters; what matters is read back
	}
	for _, reporter := range devices[pci] {
		if reporter.Failed {
			return refuse("the health reporter %s of %s is in its error state: the card does nothing now; recover it first", reporter.Name, pci)
		}
	}
	return nil
}

// representors returns the ports of one RNIC that stand for its functions, by name.
func (p portOffload) representors(pci string) (map[string]sysfs.Representor, error) {
	root := sysfs.Root{Path: p.flows.sysfsRoot}
	rnics, err := root.RNICs()
	if err != nil {
		return nil, err
	}
	all, err := root.Representors(rnics)
	if err != nil {
		return nil, err
	}
	maps.DeleteFunc(all, func(_ string, r sysfs.Representor) bool { return pci != "" && r.PFID != pci })
	return all, nil
}

// read reports whether ports are offloaded.
func (p portOffload) read(ctx context.Context, ports ...string) (map[string]*string, error) {
	if p.kernel == nil {
		return nil, errors.New("this agent cannot reach the kernel's network settings")
	}
	offloaded, err := p.kernel.TCOffload(ctx, ports)
	if err != nil {
		return nil, err
	}
	found := map[string]*string{}
	for port, on := range offloaded {
		found[port] = text(netlink.Off)
		if on {
			found[port] = text(netlink.On)
		}
	}
	return found, nil
}

// reader asks for all ports of a plan at once.
func (p portOffload) reader(plan Plan) reader {
	var found map[string]*string
	return func(ctx context.Context, key string) (*string, error) {
		if found == nil {
			var ports []string
			for _, change := range plan.Changes {
				ports = append(ports, change.Key)
			}
			var err error
			if found, err = p.read(ctx, ports...); err != nil {
				return nil, err
			}
		}
		return found[key], nil
	}
}

// stop plans to take ports out of the hardware.
func (p portOffload) stop(snapshot flowtable.Snapshot, numbers map[string]string, ports []string) Plan {
	var plan Plan
	for _, port := range ports {
		on, off := text(netlink.On), text(netlink.Off)
		plan.Changes = append(plan.Changes, Change{Key: port, Before: on, After: off})
		plan.Operations = append(plan.Operations, Operation{
			Target: "ethtool -K " + port, Operation: "hw-tc-offload off", Before: on, After: off,
			Text: fmt.Sprintf("Let the driver take no flows of %s into the hardware any more", port),
		}, Operation{
			Target: "dpctl/del-flow", Operation: "delete",
			Text: fmt.Sprintf("Delete the flows of %s that are in the hardware, %d at this time; the next packet of each brings it back in software",
				port, len(flowsOf(snapshot, numbers, port, true))),
		})
	}
	return plan
}

// flowsOf are the flows whose packets come from a port, on one side.
func flowsOf(snapshot flowtable.Snapshot, numbers map[string]string, port string, hardware bool) []flowtable.Flow {
	var found []flowtable.Flow
	for _, flow := range snapshot.Flows {
		if numbers[flow.InPort] == port && flow.Hardware == hardware {
			found = append(found, flow)
		}
	}
	return found
}

// Apply implements Remedy: it carries a plan out. A plan that fails in the middle is undone.
func (p portOffload) Apply(ctx context.Context, plan Plan) (err error) {
	known, err := p.representors("")
	if err != nil {
		return err
	}
	for i, change := range plan.Changes {
		representor, ok := known[change.Key]
		if !ok || change.After == nil || change.Before == nil {
			err = fmt.Errorf("the plan names %q, which is not a representor of this host", change.Key)
		} else {
			err = p.set(ctx, representor, *change.After == netlink.On)
		}
		if err != nil {
			return errors.Join(err, p.rollBack(ctx, known, plan.Changes[:min(i+1, len(plan.Changes))]))
		}
		notesOf(ctx).progress(i+1, len(plan.Changes))
	}
	return nil
}

func (p portOffload) rollBack(ctx context.Context, known map[string]sysfs.Representor, changes []Change) error {
	var errs []error
	for _, change := range slices.Backward(changes) {
		if representor, ok := known[change.Key]; ok && change.Before != nil {
			errs = append(errs, p.set(ctx, representor, *change.Before == netlink.On))
		}
	}
	return errors.Join(errs...)
}

// set switches one port, and makes Open vSwitch install its flows on the other side.
func (p portOffload) set(ctx context.Context, port sysfs.Representor, on bool) (err error) {
	table, numbers, err := p.flows.open(ctx, port.PFID)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, table.Close()) }()
	for try := 1; ; try++ {
		if err = p.kernel.SetTCOffload(ctx, port.Netdev, on); err == nil {
			break
		}
		if on || try == switchTries {
			return err
		}
		if _, sweepErr := sweep(ctx, table, numbers, port.Netdev, true); sweepErr != nil {
			return errors.Join(err, sweepErr)
		}
	}
	if on {
		_, err = sweep(ctx, table, numbers, port.Netdev, false)
		return err
	}
	for range sweeps {
		left, err := sweep(ctx, table, numbers, port.Netdev, true)
		if err != nil || left == 0 {
			return err
		}
		if err := wait(ctx, settlePoll); err != nil {
			return err
		}
	}
	return nil // Verify says what is left
}

// sweep deletes a port's flows on one side and returns how many there were.
func sweep(ctx context.Context, table *flowtable.Table, numbers map[string]string, port string, hardware bool) (int, error) {
	snapshot, err := read(ctx, table, numbers)
	if err != nil {
		return 0, err
	}
	flows := flowsOf(snapshot, numbers, port, hardware)
	for _, flow := range flows {
		if err := table.Delete(ctx, flow.Key()); err != nil && !errors.Is(err, flowtable.ErrGone) {
			return len(flows), fmt.Errorf("deleting a flow of %s: %w", port, err)
		}
	}
	return len(flows), nil
}

// left counts the flows in the hardware of the ports that a plan takes out of it.
func (p portOffload) left(ctx context.Context, plan Plan) (count int, err error) {
	known, err := p.representors("")
	if err != nil {
		return 0, err
	}
	for _, change := range plan.Changes {
		if change.After == nil || *change.After == netlink.On {
			continue
		}
		representor, ok := known[change.Key]
		if !ok {
			return 0, fmt.Errorf("%q is no longer a representor of this host", change.Key)
		}
		table, numbers, err := p.flows.open(ctx, representor.PFID)
		if err != nil {
			return 0, err
		}
		snapshot, err := read(ctx, table, numbers)
		if err = errors.Join(err, table.Close()); err != nil {
			return 0, err
		}
		count += len(flowsOf(snapshot, numbers, change.Key, true))
	}
	return count, nil
}

// Verify implements Remedy: it reads the ports back, and that nothing of those that were switched off is in the hardware.
func (p portOffload) Verify(ctx context.Context, plan Plan) error {
	return settled(ctx, func() error {
		if err := verify(ctx, plan, p.reader(plan)); err != nil {
			return err
		}
		switch left, err := p.left(ctx, plan); {
		case err != nil:
			return err
		case left > 0:
			return fmt.Errorf("%d flows are still in the hardware, although the driver says that it takes none", left)
		}
		return nil
	})
}

// Observe implements Remedy: a port that is switched off and has flows in the hardware is half done.
func (p portOffload) Observe(ctx context.Context, plan Plan) (Effect, error) {
	effect, err := observe(ctx, plan, p.reader(plan))
	if err != nil || effect != InPlace {
		return effect, err
	}
	switch left, err := p.left(ctx, plan); {
	case err != nil:
		return Unknown, err
	case left > 0:
		return Partial, nil
	}
	return InPlace, nil
}

// Timeout is how long the executor lets it work: a port may have thousands of flows.
func (p portOffload) Timeout() time.Duration { return portTimeout }

// ChangesFlows has the filters of TC audited before and after.
func (p portOffload) ChangesFlows() {}

// Undo implements Remedy: it gives the ports back to the hardware.
func (p portOffload) Undo(ctx context.Context, done Plan) (Plan, error) {
	changes, err := reverse(ctx, done, p.reader(done))
	if err != nil {
		return Plan{}, err
	}
	plan := Plan{Changes: changes}
	for _, change := range changes {
		plan.Operations = append(plan.Operations, Operation{
			Target: "ethtool -K " + change.Key, Operation: "hw-tc-offload " + *change.After, Before: change.Before, After: change.After,
			Text: fmt.Sprintf("Let the driver take the flows of %s into the hardware again", change.Key),
		}, Operation{
			Target: "dpctl/del-flow", Operation: "delete",
			Text: fmt.Sprintf("Delete the flows of %s that are in software; the next packet of each brings it back in the hardware", change.Key),
		})
	}
	return plan, nil
}

func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
