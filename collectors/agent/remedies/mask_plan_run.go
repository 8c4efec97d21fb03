package remedies

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wallwatch/wallwatch/collectors/agent/flowtable"
)

// flowRun carries out operations on the flows of one RNIC, no faster than the RNIC takes insertions.
type flowRun struct {
	table *flowtable.Table
	ports map[string]string
	pci   string
	pace  float64
	notes *Notes

	began    time.Time
	inserted int
	done     int
	total    int
	reported time.Time

	entries, entriesRefused, moved, removed, gone, returned, newcomers int
	// deleted are flows that were deleted when their mask was moved and are not restored yet; in the end those that the plan does not add
	// again.
	deleted map[string]flowtable.Flow
	touched map[string]bool
	// held are those of them that came after the plan was made: a mask gives up its place only with its last flow.
	held []flowtable.Flow
	// added and expelled are what the switch has to show afterwards, and must not.
	added    []flowtable.Flow
	expelled map[string]bool
}

func newFlowRun(table *flowtable.Table, ports map[string]string, plan *maskPlan, notes *Notes, total int) *flowRun {
	return &flowRun{table: table, ports: ports, pci: plan.PCI, pace: plan.PacePerS, notes: notes, began: time.Now(), total: total,
		deleted: map[string]flowtable.Flow{}, touched: map[string]bool{}, expelled: map[string]bool{}}
}

// progressInterval is how often progress is reported, for a person who watches.
const progressInterval = 500 * time.Millisecond

func (r *flowRun) step() {
	r.done++
	if now := time.Now(); now.Sub(r.reported) >= progressInterval || r.done == r.total {
		r.reported = now
		r.notes.progress(r.done, r.total)
	}
}

// insert adds a flow when its turn has come.
func (r *flowRun) insert(ctx context.Context, match, actions string) error {
	turn := r.began.Add(time.Duration(float64(r.inserted) / r.pace * float64(time.Second)))
	if wait := time.Until(turn); wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-timer.C:
		}
	}
	r.inserted++
	return r.table.Add(ctx, match, actions)
}

// snapshotAge is how old a dump may be when a mask is moved: reading thousands of flows takes the switch's time.
const snapshotAge = 5 * time.Second

// carryOut does the steps one after another; an error other than those that are expected ends it in the middle.
func (r *flowRun) carryOut(ctx context.Context, plan *maskPlan, now flowtable.Snapshot) error {
	p := planRun{flowRun: r, plan: plan, now: now, readAt: time.Now(), entries: plan.entries(), missing: map[string]bool{}}
	for _, step := range plan.Steps {
		if err := p.carryOutStep(ctx, step); err != nil {
			return fmt.Errorf("operation %d of %d (%s): %w", r.done+1, len(plan.Steps), clip(step.command()), err)
		}
		r.step()
	}
	return r.restoreNewcomers(ctx)
}

// planRun is the state between two steps of a plan.
type planRun struct {
	*flowRun
	plan    *maskPlan
	now     flowtable.Snapshot
	readAt  time.Time
	entries map[string]bool
	// missing are the flows that Open vSwitch deleted or changed before the plan did.
	missing map[string]bool
	// moving is the mask that is being moved.
	moving string
}

func (p *planRun) carryOutStep(ctx context.Context, step flowStep) error {
	switch {
	case step.Add && step.Phase == "activate":
		return p.activate(ctx, step)
	case step.Add && p.missing[step.id()]:
		return nil // what the flow did may not be right any more
	case step.Add:
		if err := p.restoreNewcomers(ctx); err != nil {
			return err
		}
		return p.restoreFlow(ctx, flowtable.Flow{ID: step.id(), Match: step.Match, Actions: step.Actions})
	}
	return p.deleteFlow(ctx, step)
}

func (p *planRun) deleteFlow(ctx context.Context, step flowStep) (err error) {
	if time.Since(p.readAt) > snapshotAge {
		if p.now, err = read(ctx, p.table, p.ports); err != nil {
			return err
		}
		p.readAt = time.Now()
	}
	flow, found := p.now.Find(step.id())
	if !found || p.plan.changed(flow) {
		p.missing[step.id()] = true
		p.gone++
		return nil
	}
	if step.Phase == "move" && !p.plan.Contested && flow.Mask != p.moving {
		p.moving = flow.Mask
		newcomer := func(id string) bool { return p.plan.Flows[id] == "" && !p.entries[id] }
		if err := p.moveNewcomers(ctx, p.moving, p.now, newcomer); err != nil {
			return err
		}
	}
	deleted, err := p.removeFlow(ctx, flow, step.Phase == "move")
	if !deleted {
		p.missing[step.id()] = true
	}
	return err
}

// moveNewcomers deletes the flows that came under a mask since the plan was made. Nothing overlaps them with other actions, otherwise Open vSwitch
// would not have installed them, so they may move with their mask.
func (r *flowRun) moveNewcomers(ctx context.Context, mask string, now flowtable.Snapshot, newcomer func(id string) bool) error {
	if err := r.restoreNewcomers(ctx); err != nil {
		return err
	}
	for _, flow := range now.Flows {
		if flow.Mask != mask || !newcomer(flow.ID) {
			continue
		}
		went, err := r.removeFlow(ctx, flow, true)
		if err != nil {
			return err
		}
		if went {
			r.held = append(r.held, flow)
		}
	}
	return nil
}

// restoreNewcomers adds them again as they were, behind the flows that were deleted before.
func (r *flowRun) restoreNewcomers(ctx context.Context) error {
	for len(r.held) > 0 {
		if err := r.restoreFlow(ctx, r.held[0]); err != nil {
			return err
		}
		r.held = r.held[1:]
		r.newcomers++
	}
	return nil
}

func (r *flowRun) activate(ctx context.Context, step flowStep) error {
	switch err := r.insert(ctx, step.Match, step.Actions); {
	case errors.Is(err, flowtable.ErrExists):
		r.entriesRefused++
		return nil
	case err != nil:
		return err
	}
	r.entries++
	r.added = append(r.added, flowtable.Flow{ID: step.id(), Match: step.Match, Actions: step.Actions})
	return nil
}

func (r *flowRun) removeFlow(ctx context.Context, flow flowtable.Flow, comesBack bool) (bool, error) {
	err := r.table.Delete(ctx, flow.Key())
	switch {
	case errors.Is(err, flowtable.ErrGone):
		r.gone++
		return false, nil
	case err != nil:
		return false, err
	case comesBack:
		r.deleted[flow.ID] = flow
		r.touched[flow.Mask] = true
	default:
		r.removed++
	}
	return true, nil
}

// restoreFlow adds a flow again. If the flow exists already, a packet came in the meantime and Open vSwitch installed it by itself.
func (r *flowRun) restoreFlow(ctx context.Context, flow flowtable.Flow) error {
	err := r.insert(ctx, flow.Match, flow.Actions)
	if errors.Is(err, flowtable.ErrExists) {
		r.returned++
		err = nil
	} else if err == nil {
		r.moved++
		r.added = append(r.added, flow)
	}
	if err == nil {
		delete(r.deleted, flow.ID)
	}
	return err
}

// restore undoes the run: it adds deleted flows again, removes the entries and restores the order of the masks. `moved` are masks that are at
// the end of the chain now.
func (r *flowRun) restore(ctx context.Context, plan *maskPlan, order []string, moved map[string]bool) error {
	for _, flow := range r.sortedDeleted() {
		if err := r.restoreFlow(ctx, flow); err != nil {
			return fmt.Errorf("adding %s again: %w", flow.ID, err)
		}
	}
	now, err := read(ctx, r.table, r.ports)
	if err != nil {
		return err
	}
	entries := plan.entries()
	for _, flow := range now.Flows {
		if !entries[flow.ID] {
			continue
		}
		if _, err := r.removeFlow(ctx, flow, false); err != nil {
			return fmt.Errorf("removing the entry %s: %w", flow.ID, err)
		}
		r.expelled[flow.ID] = true
		r.step()
	}
	return r.reorder(ctx, now, entries, later(order, moved), plan.Contested)
}

func (r *flowRun) sortedDeleted() []flowtable.Flow {
	flows := make([]flowtable.Flow, 0, len(r.deleted))
	for _, flow := range r.deleted {
		flows = append(flows, flow)
	}
	slices.SortFunc(flows, func(a, b flowtable.Flow) int { return strings.Compare(a.ID, b.ID) })
	return flows
}

// later returns the masks that have to be moved to the end, one after another, for the order to be as it was: all from the first one on that is
// not in its place.
func later(order []string, moved map[string]bool) []string {
	if first := slices.IndexFunc(order, func(mask string) bool { return moved[mask] }); first >= 0 {
		return order[first:]
	}
	return nil
}

// reorder deletes the flows of the masks and adds them again in this order. Where flows with different actions overlap, all are deleted first, the
// last of the chain before the first, so that none uncovers another.
func (r *flowRun) reorder(ctx context.Context, now flowtable.Snapshot, leaveOut map[string]bool, masks []string, contested bool) error {
	groups := make([][]flowtable.Flow, len(masks))
	for _, flow := range now.Flows {
		if at := slices.Index(masks, flow.Mask); at >= 0 && !leaveOut[flow.ID] {
			groups[at] = append(groups[at], flow)
		}
	}
	if contested {
		all := slices.Concat(groups...)
		for _, flow := range slices.Backward(all) {
			if _, err := r.removeFlow(ctx, flow, true); err != nil {
				return err
			}
		}
		return r.restoreFlows(ctx, all)
	}
	for _, group := range groups {
		for _, flow := range group {
			if _, err := r.removeFlow(ctx, flow, true); err != nil {
				return err
			}
		}
		if err := r.restoreFlows(ctx, group); err != nil {
			return err
		}
	}
	return nil
}

func (r *flowRun) restoreFlows(ctx context.Context, flows []flowtable.Flow) error {
	for _, flow := range flows {
		if _, deleted := r.deleted[flow.ID]; !deleted {
			continue
		}
		if err := r.restoreFlow(ctx, flow); err != nil {
			return err
		}
		r.step()
	}
	return nil
}

// check compares what the run did with the present flows. Live flows come and go, so that a part of what was added may be gone already. What the
// flows do is not compared as text, which a switch may print in other words than it was given: the server proves it from the attached flows.
func (r *flowRun) check(now flowtable.Snapshot) error {
	found := 0
	for _, flow := range r.added {
		if _, there := now.Find(flow.ID); there {
			found++
		}
	}
	if float64(found) < foundShare*float64(len(r.added)) {
		return fmt.Errorf("only %d of %d added flows exist; Open vSwitch may have deleted them as wrong", found, len(r.added))
	}
	for _, flow := range now.Flows {
		if r.expelled[flow.ID] {
			return fmt.Errorf("the flow %s still exists after it was removed", flow.ID)
		}
	}
	return nil
}
