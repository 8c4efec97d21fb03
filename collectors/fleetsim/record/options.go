// Package record runs a simulated fleet faster than real time and writes what its collectors would have sent, with the ground truth.
//
// Nothing of the collectors is imitated: the inputs of plugins/inputs themselves read a tree of files, a control socket and a folder of
// CNI events, as on a host. Only their clock is the engine's.
package record

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/scenario"
)

// The files of a recording.
const (
	TelemetryFile = "telemetry.jsonl.gz"
	TruthFile     = "truth.jsonl"
	RunFile       = "run.json"
)

// DefaultStart is the time of day at which recordings begin by default: a fixed one makes them repeatable.
var DefaultStart = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// tick is how often the kernel log is written, and the shortest interval between two samples.
const tick = time.Second

// Options are the flags of "fleetsim record".
type Options struct {
	Scenario  string // scenario file
	Out       string // folder for the recording
	Length    time.Duration
	Interval  time.Duration // between two samples
	Jitter    time.Duration // each sample of a host comes later than its interval by a random time below this, in half seconds
	Start     time.Time
	Seed      *uint64 // nil: the scenario's
	Overwrite bool
	// Performance asks for PerformanceFile too.
	Performance bool
	// VFTraffic asks for the messages of the input vf_traffic too; a scenario with tenants has them in any case.
	VFTraffic bool
	Policies  string // file of compiled policies that collectors run; empty: none, and no events of flows
	Work      string // folder for the hosts' files; empty: in memory where there is a file system for it
	Version   string
	Progress  io.Writer
}

func (o *Options) check() error {
	switch {
	case o.Scenario == "" || o.Out == "":
		return errors.New("record needs --scenario FILE and --out DIR")
	case o.Interval < tick || o.Interval > time.Minute || o.Interval%tick != 0:
		return fmt.Errorf("--interval is %s; it must be whole seconds, from 1s to 1m", o.Interval)
	case o.Jitter < 0 || o.Jitter > o.Interval:
		return fmt.Errorf("--jitter is %s; it must be from 0s to the interval of %s", o.Jitter, o.Interval)
	case o.Length < o.Interval:
		return fmt.Errorf("--for is %s, shorter than one interval of %s", o.Length, o.Interval)
	case o.Start.Year() < 2020 || o.Start.Year() > 2200:
		return fmt.Errorf("--start is %s; it must be from 2020 to 2200", o.Start.Format(time.RFC3339))
	}
	if earlier, err := ReadDescription(filepath.Join(o.Out, RunFile)); err == nil && earlier.Complete && !o.Overwrite {
		return fmt.Errorf("%s already has a recording of %s: choose another folder, or use --overwrite", o.Out, earlier.Scenario)
	}
	return nil
}

// load reads the scenario and returns its text too.
func (o *Options) load() (*scenario.Scenario, string, error) {
	s, err := scenario.Load(o.Scenario)
	if err != nil {
		return nil, "", err
	}
	text, err := os.ReadFile(o.Scenario)
	if err != nil {
		return nil, "", fmt.Errorf("the scenario cannot be read: %w", err)
	}
	if o.Seed != nil {
		s.Seed = *o.Seed
	}
	return s, string(text), nil
}
