// Package load writes the telemetry of a fleet of any size straight to Kafka, in the form that the collectors write it. Each of its hosts plays
// what one simulated host has sent, which fleetsim record wrote down.
package load

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/record"
	"github.com/wallwatch/wallwatch/collectors/fleetsim/tape"
)

// hostsOfRack is how many hosts of the fleet share a rack.
const hostsOfRack = 16

//go:embed healthy.yaml
var healthy []byte

// tenants is recorded in place of healthy where the traffic of VFs is wanted.
//
//go:embed tenants.yaml
var tenants []byte

// vfTraffic is the measurement that only a fleet with tenants, or one that is asked for it, sends.
const vfTraffic = "vf_traffic"

// ownRounds is how many samples the tapes have that load records itself; those of tenants, whose hosts are read every second, have fewer.
const ownRounds, tenantRounds = 40, 24

// reel is what one --tapes names: the tapes of a recording, and which share of the fleet plays them.
type reel struct {
	tapes  []*tape.Tape
	weight float64
}

// reels reads the recordings that the options name, or makes one.
func (o *Options) reels(ctx context.Context) ([]reel, error) {
	if o.Tapes == "" {
		return o.ownReel(ctx)
	}
	var reels []reel
	for _, text := range strings.Split(o.Tapes, ",") {
		folder, share, weighted := strings.Cut(text, "=")
		weight := 1.0
		if weighted {
			var err error
			if weight, err = strconv.ParseFloat(share, 64); err != nil || weight <= 0 {
				return nil, fmt.Errorf("--tapes: %q is not a weight above 0, in %q", share, text)
			}
		}
		tapes, err := tape.Load(folder, o.only(), !o.Single)
		if err != nil {
			return nil, fmt.Errorf("--tapes: %w", err)
		}
		reels = append(reels, reel{tapes, weight})
	}
	for _, r := range reels {
		for _, t := range r.tapes {
			if o.Interval == 0 {
				o.Interval = t.Interval
			}
			if t.Interval != o.Interval {
				return nil, fmt.Errorf("--tapes: the tape of %s has a sample every %s, not every %s: record it with --interval %s", t.Host, t.Interval,
					o.Interval, o.Interval)
			}
		}
	}
	return reels, nil
}

// ownReel records a healthy fleet, with tenants where the traffic of VFs is wanted.
func (o *Options) ownReel(ctx context.Context) ([]reel, error) {
	if o.Interval == 0 {
		o.Interval = 10 * time.Second
	}
	folder, err := os.MkdirTemp("", "fleetsim-load-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	text, rounds := healthy, time.Duration(ownRounds)
	if o.only()[vfTraffic] {
		text, rounds = tenants, tenantRounds
	}
	scenario := filepath.Join(folder, "fleet.yaml")
	if err := os.WriteFile(scenario, text, 0o644); err != nil {
		return nil, err
	}
	recording := record.Options{Scenario: scenario, Out: filepath.Join(folder, "tape"), Length: rounds * o.Interval, Interval: o.Interval,
		Start: record.DefaultStart, Seed: &o.Seed}
	if err := record.Run(ctx, recording); err != nil {
		return nil, err
	}
	tapes, err := tape.Load(recording.Out, o.only(), !o.Single)
	return []reel{{tapes, 1}}, err
}

// fleet deals the tapes to hosts until these have enough RNICs.
func fleet(reels []reel, rnics int, seed uint64) ([]*tape.Player, error) {
	total := 0.0
	for _, r := range reels {
		total += r.weight
		if len(r.tapes) == 0 || r.tapes[0].RNICs == 0 {
			return nil, errors.New("--tapes: a recording has no hosts with RNICs")
		}
	}
	rng := rand.New(rand.NewPCG(seed, 1))
	var players []*tape.Player
	for left := rnics; left > 0; {
		chosen, drawn := reels[len(reels)-1], rng.Float64()*total
		for _, r := range reels {
			if drawn < r.weight {
				chosen = r
				break
			}
			drawn -= r.weight
		}
		n := len(players)
		t := chosen.tapes[rng.IntN(len(chosen.tapes))]
		players = append(players, tape.NewPlayer(t, fmt.Sprintf("load-%05d", n), fmt.Sprintf("r%03d", n/hostsOfRack), rng))
		left -= t.RNICs
	}
	return players, nil
}
