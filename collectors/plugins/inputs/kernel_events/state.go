package kernel_events

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/wallwatch/wallwatch/collectors/internal/kmsg"
)

// state is what a restart of the collector, or of the host, must not lose.
type state struct {
	BootID   string        `json:"boot_id"`
	Position kmsg.Position `json:"position"`
	// BootedAt is when this boot began.
	BootedAt time.Time `json:"booted_at"`
	// ShutdownAt is when the kernel log announced the end of this boot.
	ShutdownAt *time.Time `json:"shutdown_at,omitempty"`
	// StoppedAt is when the collector was stopped in order; a host that is shut down stops it, a crash does not.
	StoppedAt *time.Time `json:"stopped_at,omitempty"`
	// Dumps are the digests of the dumps in pstore that were read, the newest last.
	Dumps []string `json:"dumps"`
}

// keptDumps is more than a store has room for.
const keptDumps = 256

func (s *state) sawDump(digest string) bool {
	if slices.Contains(s.Dumps, digest) {
		return true
	}
	s.Dumps = append(s.Dumps, digest)
	if len(s.Dumps) > keptDumps {
		s.Dumps = slices.Delete(s.Dumps, 0, len(s.Dumps)-keptDumps)
	}
	return false
}

// rewriteAfter is how old the time of the last reading in the file may become while nothing happens.
const rewriteAfter = time.Minute

// worthSaving reports whether a state differs from the saved one in more than the time of the last reading.
func (s *state) worthSaving(saved *state) bool {
	if s.Position.ReadAt.Sub(saved.Position.ReadAt).Abs() >= rewriteAfter {
		return true
	}
	same := s.Position
	same.ReadAt = saved.Position.ReadAt
	return same != saved.Position || s.BootID != saved.BootID || s.BootedAt != saved.BootedAt || !slices.Equal(s.Dumps, saved.Dumps) ||
		(s.ShutdownAt == nil) != (saved.ShutdownAt == nil) || (s.StoppedAt == nil) != (saved.StoppedAt == nil)
}

// readState returns the state in a file, an empty one when there is none yet.
func readState(path string) (state, error) {
	var s state
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(content, &s); err != nil {
		return state{}, fmt.Errorf("%q is not a state of inputs.kernel_events: %w", path, err)
	}
	return s, nil
}

// writeState puts the state in place in one step, so that a crash leaves the old one or the new one. Unlike internal/atomicfile it
// does not wait for the disk: it runs at each gathering, and after a power cut another boot's log begins anyway.
func writeState(path string, s state) error {
	content, err := json.Marshal(s)
	if err != nil {
		return err
	}
	temporary, err := os.CreateTemp(filepath.Dir(path), ".kernel_events-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(temporary.Name()) }()
	_, err = temporary.Write(content)
	if closeErr := temporary.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	return os.Rename(temporary.Name(), path)
}
