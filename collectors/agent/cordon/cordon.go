// Package cordon is the agreement between the agent, which cordons an RNIC, and the CNI plugin, which then refuses new VFs on it: one JSON
// file per physical function, named after its PCI address. It brings no library of others along, since the plugin must start fast.
package cordon

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/wallwatch/wallwatch/collectors/internal/atomicfile"
)

// Record is the content of a cordon file.
type Record struct {
	PCI       string `json:"pci"`
	Reason    string `json:"reason"`
	RemedyID  string `json:"remedy_id"`
	CommandID string `json:"command_id"`
	At        string `json:"at"`
}

// Path returns the file of one physical function. The caller has checked that pci is a PCI address.
func Path(dir, pci string) string { return filepath.Join(dir, pci+".json") }

// Read returns the cordon of a physical function, nil when it has none. A file that is not a cordon record of that very function is an
// error: whoever reads it decides what an unreadable cordon means.
func Read(dir, pci string) (*Record, error) {
	content, err := os.ReadFile(Path(dir, pci))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var record Record
	if err := json.Unmarshal(content, &record); err != nil {
		return nil, fmt.Errorf("%s is not a cordon record: %w", Path(dir, pci), err)
	}
	if record.PCI != pci {
		return nil, fmt.Errorf("%s is a cordon record of %q, not of %s", Path(dir, pci), record.PCI, pci)
	}
	return &record, nil
}

// Write puts a file in place in one step, so that a reader sees the old content, the new one or none, and a crash leaves no half file.
// The plugin runs as another user than the agent may, hence the modes.
func Write(dir, pci string, content []byte) error {
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // G301: the plugin has to read it
		return err
	}
	return atomicfile.Write(Path(dir, pci), content, 0o644)
}

// Remove takes a cordon file away; one that is already gone is fine.
func Remove(dir, pci string) error {
	err := os.Remove(Path(dir, pci))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return atomicfile.SyncFolder(dir)
}
