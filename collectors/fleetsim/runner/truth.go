package runner

import (
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine"
)

// truthFile holds what really happened, for tests and demonstrations to compare with; it lies outside of every host's folder.
// A symptom gets a line when it begins, with "to" null, and a line with the same "from" when it has ended.
type truthFile struct {
	file  *os.File
	began map[symptomOf]string
}

type symptomOf struct {
	rnic     *engine.RNIC
	symptom  string
	marginal bool
}

type truthLine struct {
	Symptom string  `json:"symptom"`
	Cause   string  `json:"cause"`
	Host    string  `json:"host"`
	PCI     string  `json:"pci"`
	From    string  `json:"from"`
	To      *string `json:"to"`
	// Marginal: nobody is wrong who calls it the symptom, and nobody who does not.
	Marginal bool `json:"marginal,omitempty"`
}

func (t *truthFile) open(path string) (err error) {
	if t.file, err = os.Create(path); err != nil {
		return fmt.Errorf("the truth file: %w", err)
	}
	t.began = map[symptomOf]string{}
	return nil
}

func (t *truthFile) close() { _ = t.file.Close() }

func (t *truthFile) add(v engine.Verdict, now time.Time, speed float64) error {
	wall := func(virtual time.Duration) string {
		return now.Add(-time.Duration(float64(v.Judged-virtual) / speed)).UTC().Format(time.RFC3339Nano)
	}
	line := truthLine{Symptom: v.Symptom, Cause: v.Cause, Host: v.RNIC.Host.Name, PCI: v.RNIC.PCI, Marginal: v.Marginal}
	key := symptomOf{v.RNIC, v.Symptom, v.Marginal}
	if v.To == nil {
		t.began[key] = wall(v.From)
	}
	line.From = t.began[key]
	if v.To != nil {
		to := wall(*v.To)
		line.To = &to
	}
	text, err := json.Marshal(line)
	if err != nil {
		return err
	}
	_, err = t.file.Write(append(text, '\n'))
	return err
}
