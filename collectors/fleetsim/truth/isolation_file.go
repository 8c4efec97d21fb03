package truth

import (
	"encoding/json"
	"fmt"
	"os"
	"time"
)

// IsolationFileName is the file of broken seconds, next to the truth file. Only scenarios with tenants have one.
const IsolationFileName = "truth-isolation.jsonl"

// IsolationFile holds broken seconds, one a line.
type IsolationFile struct{ file *os.File }

type brokenSecond struct {
	Host       string     `json:"host"`
	PCI        string     `json:"pci"`
	From       string     `json:"from"`
	To         string     `json:"to"`
	Mechanism  Mechanism  `json:"mechanism"`
	Victims    []tenantOf `json:"victims"`
	Aggressors []tenantOf `json:"aggressors"`
	// Marginal: a detector may report it or not.
	Marginal bool `json:"marginal,omitempty"`
}

type tenantOf struct {
	VF  int    `json:"vf"`
	Pod string `json:"pod,omitempty"` // namespace and name
}

// CreateIsolation begins a file of broken seconds.
func CreateIsolation(path string) (*IsolationFile, error) {
	file, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("the truth file of broken seconds: %w", err)
	}
	return &IsolationFile{file}, nil
}

// Close ends the file.
func (f *IsolationFile) Close() { _ = f.file.Close() }

// Add writes a broken second. now is when it was judged, by a clock that runs so many times slower than the fleet's (speed).
func (f *IsolationFile) Add(b Breakage, now time.Time, speed float64) error {
	wall := func(virtual time.Duration) string {
		return now.Add(-time.Duration(float64(b.Judged-virtual) / speed)).UTC().Format(time.RFC3339Nano)
	}
	named := func(vfs []int) []tenantOf {
		list := make([]tenantOf, len(vfs))
		for i, vf := range vfs {
			list[i].VF = vf
			if c := b.RNIC.VFs[vf]; c != nil && c.Pod != "" {
				list[i].Pod = c.Namespace + "/" + c.Pod
			}
		}
		return list
	}
	text, err := json.Marshal(brokenSecond{Host: b.RNIC.Host.Name, PCI: b.RNIC.PCI, From: wall(b.From), To: wall(b.To), Mechanism: b.Mechanism,
		Victims: named(b.Victims), Aggressors: named(b.Aggressors), Marginal: b.Marginal})
	if err != nil {
		return err
	}
	_, err = f.file.Write(append(text, '\n'))
	return err
}
