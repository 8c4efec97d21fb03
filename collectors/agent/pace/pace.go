// Package pace is the agreement between the agent, which slows down what happens to an RNIC, and the CNI plugin, which then does it: JSON files
// of each physical function, and next to each a file in which calls of the plugin, which are processes of their own, keep account together. It
// brings no library of others along, since the plugin must start fast.
package pace

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/wallwatch/wallwatch/collectors/internal/atomicfile"
)

// Kind says what is slowed down.
type Kind string

// The kinds: containers that get a VF, and VFs that are released.
const (
	Add Kind = "add"
	Del Kind = "del"
)

// Record is the content of a file of either kind.
type Record struct {
	PCI string `json:"pci"`
	// PerMinute and Burst limit Add: new containers per minute, and how many may start together after a quiet time.
	PerMinute int64 `json:"per_minute,omitempty"`
	Burst     int64 `json:"burst,omitempty"`
	// IntervalMS limits Del: the time from one release to the next.
	IntervalMS int64  `json:"interval_ms,omitempty"`
	RemedyID   string `json:"remedy_id"`
	CommandID  string `json:"command_id"`
	At         string `json:"at"`
}

// Path returns the file of one physical function. The caller has checked that pci is a PCI address.
func Path(dir, pci string, kind Kind) string {
	return filepath.Join(dir, fmt.Sprintf("%s.%s.json", pci, kind))
}

// Read returns the pace of a physical function, nil when there is none. A file that is no record of that very function is an error: whoever
// reads it decides what an unreadable pace means.
func Read(dir, pci string, kind Kind) (*Record, error) {
	path := Path(dir, pci, kind)
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var record Record
	if err := json.Unmarshal(content, &record); err != nil {
		return nil, fmt.Errorf("%s is not a record of a pace: %w", path, err)
	}
	good := record.PerMinute > 0 && record.Burst > 0
	if kind == Del {
		good = record.IntervalMS > 0
	}
	if record.PCI != pci || !good {
		return nil, fmt.Errorf("%s is not a record of a pace of %s", path, pci)
	}
	return &record, nil
}

// Write puts a file in place in one step.
func Write(dir, pci string, kind Kind, content []byte) error {
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // G301: the plugin has to read it
		return err
	}
	return atomicfile.Write(Path(dir, pci, kind), content, 0o644)
}

// Remove takes a file away, and the account with it; one that is already gone is fine.
func Remove(dir, pci string, kind Kind) error {
	for _, path := range []string{Path(dir, pci, kind), accountPath(dir, pci, kind)} {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return atomicfile.SyncFolder(dir)
}

func accountPath(dir, pci string, kind Kind) string {
	return filepath.Join(dir, fmt.Sprintf("%s.%s.account", pci, kind))
}
