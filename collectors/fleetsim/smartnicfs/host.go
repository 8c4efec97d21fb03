// Package smartnicfs shows the network functions on a host's SmartNICs as the host would: control groups, processes, representors, the folder of
// declared functions, and files in place of hardware counters. The collector's input nf reads them unmodified.
package smartnicfs

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/scenario"
	"github.com/wallwatch/wallwatch/collectors/fleetsim/smartnic"
)

// firstPID is that of the first function; each has one process.
const firstPID = 4000

// Host is a host's cards and what runs on them.
type Host struct {
	root    string
	now     time.Duration
	cards   map[string]*smartnic.Card
	planned []*resident
	written map[string]string
	// Clock is the time of day that a function's own metrics have.
	Clock func() time.Time
}

// resident is a function of the scenario, and what runs of it.
type resident struct {
	plan      scenario.Function
	kind      smartnic.Kind
	number    int
	firstCore int
	running   *smartnic.Function // nil: its container does not run
}

// New returns the host's part of a scenario; root is the host's folder. A host without functions writes nothing.
func New(s *scenario.Scenario, name, root string) (*Host, error) {
	h := &Host{root: root, cards: map[string]*smartnic.Card{}, written: map[string]string{}, Clock: time.Now}
	if err := h.clean(); err != nil {
		return nil, err
	}
	cores := map[string]int{}
	for _, plan := range s.Functions {
		if plan.Host != name {
			continue
		}
		kind, err := smartnic.LookupKind(plan.Kind)
		if err != nil {
			return nil, err
		}
		if h.cards[plan.RNIC] == nil {
			h.cards[plan.RNIC] = smartnic.NewCard(s.Seed + uint64(len(h.cards)))
		}
		h.planned = append(h.planned, &resident{plan: plan, kind: kind, number: len(h.planned), firstCore: cores[plan.RNIC] % smartnic.Cores})
		cores[plan.RNIC] += plan.Cores
	}
	return h, nil
}

// HasFunctions reports whether any function ever runs here.
func (h *Host) HasFunctions() bool { return len(h.planned) > 0 }

// Step moves the cards on.
func (h *Host) Step(dt time.Duration) {
	if !h.HasFunctions() {
		return
	}
	h.now += dt
	for _, r := range h.planned {
		card := h.cards[r.plan.RNIC]
		runs := h.now >= r.plan.At.Std() && (r.plan.For == 0 || h.now < (r.plan.At+r.plan.For).Std())
		switch {
		case runs && r.running == nil && card.FreeCores() >= r.plan.Cores:
			r.running = &smartnic.Function{Kind: r.kind, Cores: r.plan.Cores}
			card.Functions = append(card.Functions, r.running)
		case !runs && r.running != nil:
			card.Functions = slices.DeleteFunc(card.Functions, func(f *smartnic.Function) bool { return f == r.running })
			r.running = nil
		}
		if r.running != nil {
			r.running.Traffic = trafficAt(&r.plan, h.now)
		}
	}
	for _, card := range h.cards {
		card.Step(dt)
	}
}

// trafficAt is the traffic after all changes so far; phases count from the start of the scenario.
func trafficAt(plan *scenario.Function, now time.Duration) smartnic.Traffic {
	t := smartnic.Traffic{Flows: plan.Traffic.Flows, PacketBytes: plan.Traffic.PacketBytes, MTBR: plan.Traffic.MTBR, KPPS: plan.Traffic.KPPS,
		Slower: plan.Traffic.Slower}
	for _, p := range plan.Phases {
		if now < p.At.Std() {
			break
		}
		done := 1.0
		if p.Over > 0 {
			done = min((now-p.At.Std()).Seconds()/p.Over.Std().Seconds(), 1)
		}
		move := func(value *float64, to float64) { *value += done * (cmp.Or(to, *value) - *value) }
		move(&t.Flows, p.Flows)
		move(&t.PacketBytes, p.PacketBytes)
		move(&t.MTBR, p.MTBR)
		move(&t.KPPS, p.KPPS)
		move(&t.Slower, p.Slower)
	}
	t.Flows = math.Round(t.Flows)
	return t
}

func (r *resident) pid() int { return firstPID + r.number }

func (r *resident) cgroup() string {
	return fmt.Sprintf("kubepods.slice/cri-containerd-%s.scope", r.plan.Container())
}

// representor is that of a scalable function of the card.
func (r *resident) representor() string { return fmt.Sprintf("en3f0pf0sf%d", r.number) }
