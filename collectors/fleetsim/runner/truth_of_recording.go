package runner

import (
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine"
)

// Truth is the truth file of somebody who has a clock of his own, such as a recording.
type Truth struct{ file truthFile }

// OpenTruth begins a truth file.
func OpenTruth(path string) (*Truth, error) {
	t := &Truth{}
	return t, t.file.open(path)
}

// Add writes what has begun or ended. now is the time at which the engine said so.
func (t *Truth) Add(v engine.Verdict, now time.Time) error { return t.file.add(v, now, 1) }

// Close ends the file.
func (t *Truth) Close() { t.file.close() }
