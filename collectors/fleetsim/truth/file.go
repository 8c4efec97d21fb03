package truth

import (
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine"
)

// File holds verdicts, for tests and demonstrations to compare with; it lies outside every host's folder.
// A symptom gets a line when it begins, with "to" null, and a line with the same "from" when it has ended.
type File struct {
	file  *os.File
	began map[symptomOf]string
}

type symptomOf struct {
	rnic     *engine.RNIC
	symptom  string
	marginal bool
}

type line struct {
	Symptom string  `json:"symptom"`
	Cause   string  `json:"cause"`
	Host    string  `json:"host"`
	PCI     string  `json:"pci"`
	From    string  `json:"from"`
	To      *string `json:"to"`
	// Marginal: a detector may report it or not.
	Marginal bool `json:"marginal,omitempty"`
}

// Create begins a truth file.
func Create(path string) (*File, error) {
	file, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("the truth file: %w", err)
	}
	return &File{file: file, began: map[symptomOf]string{}}, nil
}

// Close ends the file.
func (f *File) Close() { _ = f.file.Close() }

// Add writes a verdict. now is when the judge gave it, by a clock that runs so many times slower than the fleet's (speed).
func (f *File) Add(v Verdict, now time.Time, speed float64) error {
	wall := func(virtual time.Duration) string {
		return now.Add(-time.Duration(float64(v.Judged-virtual) / speed)).UTC().Format(time.RFC3339Nano)
	}
	l := line{Symptom: v.Symptom, Cause: v.Cause, Host: v.RNIC.Host.Name, PCI: v.RNIC.PCI, Marginal: v.Marginal}
	key := symptomOf{v.RNIC, v.Symptom, v.Marginal}
	if v.To == nil {
		f.began[key] = wall(v.From)
	}
	l.From = f.began[key]
	if v.To != nil {
		to := wall(*v.To)
		l.To = &to
	}
	text, err := json.Marshal(l)
	if err != nil {
		return err
	}
	_, err = f.file.Write(append(text, '\n'))
	return err
}
