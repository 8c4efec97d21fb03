package ovs_offload

import (
	"fmt"
	"math"
	"time"

	"github.com/wallwatch/wallwatch/collectors/internal/cadence"
)

// wall is a value of one RNIC that has a limit, and the least change of it that matters where the limit is not known.
type wall struct {
	name  string
	value func(r *rnicState, seconds float64) float64
	least float64
}

// perSecond is a count since the dump before as a rate; there is none in the first dump.
func perSecond(count int, seconds float64) float64 {
	if seconds <= 0 {
		return 0
	}
	return float64(count) / seconds
}

// walls are those of the catalogue, by the same names.
var walls = []wall{
	{"offloaded_flows", func(r *rnicState, _ float64) float64 { return float64(r.population.offloaded) }, 1000},
	{"egress_masks", func(r *rnicState, _ float64) float64 { return float64(r.chains[egress].inUse()) }, 20},
	{"ingress_masks", func(r *rnicState, _ float64) float64 { return float64(r.chains[ingress].inUse()) }, 20},
	{"flow_insertions", func(r *rnicState, s float64) float64 { return perSecond(r.change.insertions, s) }, 200},
	{"encap_contexts", func(r *rnicState, _ float64) float64 { return float64(r.population.contexts) }, 1000},
}

const (
	// reoffloadScale is the change of re-offloads per second that matters as much as running into a wall.
	reoffloadScale = 50
	// softwareScale is the same for packets per second that software takes although their flow is offloaded.
	softwareScale = 10000
)

func (p *Plugin) initCadence() error {
	for name, limit := range p.Walls {
		if !known(name) {
			return fmt.Errorf("walls: %q is no wall; there are offloaded_flows, egress_masks, ingress_masks, flow_insertions, encap_contexts", name)
		}
		if limit <= 0 {
			return fmt.Errorf("walls: the limit of %s has to be positive, not %d", name, limit)
		}
	}
	if !p.Adaptive {
		return nil
	}
	controller, err := cadence.New(cadence.Settings{
		Shortest: time.Duration(p.MinInterval), Longest: time.Duration(p.MaxInterval), Budget: p.CPUBudget,
	})
	if err != nil {
		return fmt.Errorf("adaptive: %w", err)
	}
	p.cadence = controller
	return nil
}

func known(name string) bool {
	for _, w := range walls {
		if w.name == name {
			return true
		}
	}
	return false
}

// decide hands what was seen to the controller of the interval and returns what it has to say as fields. On an error the flows could
// not be read.
func (p *Plugin) decide(cost time.Duration, at time.Time, seen *switchState, err error) map[string]any {
	if p.cadence == nil {
		return map[string]any{"collect_cpu_ms": round(cost.Seconds() * 1000)}
	}
	reachable := 0.0
	var signals []cadence.Signal
	if err == nil {
		reachable = 1
		for _, r := range p.tracker.rnics {
			signals = append(signals, p.signals(r, seen.elapsed.Seconds())...)
		}
	}
	signals = append(signals, cadence.Signal{Name: "Open vSwitch", Value: reachable, Scale: 1})
	return p.cadence.Sampled(at, cost, signals).Fields()
}

// signals are what tells the controller how fast the state of one RNIC moves, and how near its walls are.
func (p *Plugin) signals(r *rnicState, seconds float64) []cadence.Signal {
	signals := make([]cadence.Signal, 0, len(walls)+2)
	for _, w := range walls {
		s := cadence.Signal{Name: w.name + " of " + r.id, Value: w.value(r, seconds), Noisy: true}
		if limit, known := p.Walls[w.name]; known {
			s.Scale, s.Wall = float64(limit), true
		} else {
			s.Scale = math.Max(w.least, s.Value)
		}
		signals = append(signals, s)
	}
	return append(signals,
		cadence.Signal{Name: "reoffloads of " + r.id, Value: perSecond(r.change.reoffloads, seconds), Scale: reoffloadScale, Noisy: true},
		cadence.Signal{Name: "software packets of " + r.id, Value: perSecond(int(min(r.change.copyPackets, math.MaxInt32)), seconds), Scale: softwareScale, Noisy: true},
	)
}
