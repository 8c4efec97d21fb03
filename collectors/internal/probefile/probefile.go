// Package probefile is the small file in which the agent's prober leaves the delays that it measured, and from which the input vf_traffic takes
// them. Prober and collector are two processes with different privileges: the file is all that they share.
//
//	{"at": "2026-11-01T12:00:00Z", "vfs": [{"pci": "0000:3b:00.0", "vf": 3, "p50_us": 11.5, "p99_us": 48, "count": 9}]}
package probefile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"time"

	"github.com/wallwatch/wallwatch/collectors/internal/atomicfile"
)

// Delays are the round trips of the latest probes of all functions; how far back they reach is the prober's to choose.
type Delays struct {
	// At is the end of the measurement.
	At  time.Time `json:"at"`
	VFs []Delay   `json:"vfs"`
}

// Delay is one virtual function's.
type Delay struct {
	// PCI is the address of the physical function, VF the number of the virtual function on it.
	PCI string `json:"pci"`
	VF  int    `json:"vf"`
	// P50US and P99US are quantiles of the round trip, in microseconds.
	P50US float64 `json:"p50_us"`
	P99US float64 `json:"p99_us"`
	// Count is the number of answered probes; a function without any is left out of the file.
	Count int64 `json:"count"`
}

// mode lets the collector read what the agent wrote: it holds delays, no secrets.
const mode = 0o644

// Write replaces the file as a whole: a reader finds the old content or the new one.
func Write(path string, delays Delays) error {
	if delays.VFs == nil {
		delays.VFs = []Delay{}
	}
	if err := delays.check(); err != nil {
		return err
	}
	raw, err := json.Marshal(delays)
	if err != nil {
		return err
	}
	return atomicfile.Write(path, append(raw, '\n'), mode)
}

// longest is far more than a host with every function that SR-IOV allows needs.
const longest = 1 << 20

// Read returns what the prober wrote last; fs.ErrNotExist says that no prober runs here. How old it may be is the caller's to judge.
func Read(path string) (Delays, error) {
	file, err := os.Open(path)
	if err != nil {
		return Delays{}, err
	}
	defer func() { _ = file.Close() }()
	raw, err := io.ReadAll(io.LimitReader(file, longest+1))
	if err != nil {
		return Delays{}, err
	}
	if len(raw) > longest {
		return Delays{}, fmt.Errorf("%q is longer than %d bytes: it is not the prober's file", path, longest)
	}
	var delays Delays
	if err := json.Unmarshal(raw, &delays); err != nil {
		return Delays{}, fmt.Errorf("%q is not the prober's JSON: %w", path, err)
	}
	if err := delays.check(); err != nil {
		return Delays{}, fmt.Errorf("%q: %w", path, err)
	}
	return delays, nil
}

func (d Delays) check() error {
	if d.At.IsZero() {
		return errors.New("the time `at` is missing")
	}
	for _, vf := range d.VFs {
		if err := vf.check(); err != nil {
			return fmt.Errorf("VF %d of %q: %w", vf.VF, vf.PCI, err)
		}
	}
	return nil
}

func (d Delay) check() error {
	switch {
	case d.PCI == "" || d.VF < 0:
		return errors.New("a delay names its function by pci and vf (from 0)")
	case !isDelay(d.P50US) || !isDelay(d.P99US) || d.P50US > d.P99US:
		return fmt.Errorf("p50_us %v and p99_us %v are not quantiles of a delay", d.P50US, d.P99US)
	case d.Count < 1:
		return fmt.Errorf("count is %d; a function without an answered probe is left out", d.Count)
	}
	return nil
}

func isDelay(us float64) bool { return us >= 0 && !math.IsInf(us, 0) }
