// Package tape plays recordings again, as often and for as many hosts as wanted: what "fleetsim record" wrote of one host becomes a tape,
// and a player of a tape is a host with a name, a phase and counters of its own. So a fleet of any size shows what the mechanisms of the
// engine do, at the cost of copying text.
package tape

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/record"
)

// Tape is what one host of a recording sent.
type Tape struct {
	Host     string
	RNICs    int
	Interval time.Duration
	Rounds   [][]Message // the messages of each interval
	growth   []uint64    // of each counter, from one play to the next
}

// Length is the time that one play takes.
func (t *Tape) Length() time.Duration { return time.Duration(len(t.Rounds)) * t.Interval }

// Load reads the tapes of a recording, one a host. Only measurements in only are kept, all if it is empty. With inBlocks the hosts send samples in
// blocks, as collectors do, else each as a message of its own.
func Load(folder string, only map[string]bool, inBlocks bool) ([]*Tape, error) {
	run, err := record.ReadDescription(filepath.Join(folder, record.RunFile))
	if err != nil {
		return nil, fmt.Errorf("%w (a tape is a folder that fleetsim record has written)", err)
	}
	if !run.Complete {
		return nil, fmt.Errorf("%s: the recording is cut short; record it again", folder)
	}
	file, err := os.Open(filepath.Join(folder, record.TelemetryFile))
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	zip, err := gzip.NewReader(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file.Name(), err)
	}
	cutters := map[string]*cutter{}
	var tapes []*Tape
	for _, h := range run.Hosts {
		interval := time.Duration(run.IntervalS * float64(time.Second))
		t := &Tape{Host: h.Host, RNICs: len(h.RNICs), Interval: interval, Rounds: make([][]Message, int(run.LengthS/run.IntervalS))}
		tapes = append(tapes, t)
		cutters[h.Host] = newCutter(t, run.Start, inBlocks)
	}
	lines := bufio.NewReaderSize(zip, 1<<20)
	for number := 1; ; number++ {
		text, err := lines.ReadSlice('\n')
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", file.Name(), number, err)
		}
		var m received
		decoder := json.NewDecoder(bytes.NewReader(text))
		decoder.UseNumber() // counters have more digits than a float64
		if err := decoder.Decode(&m); err != nil {
			return nil, fmt.Errorf("%s: line %d is not a message: %w", file.Name(), number, err)
		}
		c := cutters[m.Tags["host"]]
		if c == nil {
			return nil, fmt.Errorf("%s: line %d is of the host %q, which run.json does not have", file.Name(), number, m.Tags["host"])
		}
		if len(only) > 0 && !only[m.Name] {
			continue
		}
		if err := c.add(&m); err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", file.Name(), number, err)
		}
	}
	for _, c := range cutters {
		c.finish()
	}
	return tapes, nil
}
