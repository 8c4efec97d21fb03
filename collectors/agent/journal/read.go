package journal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// Read returns the records of a journal in the order in which they were written, without taking it away from a running agent, and the number
// of lines that cannot be read.
func Read(dir string) ([]Record, int, error) {
	content, err := os.ReadFile(filepath.Join(dir, FileName))
	if err != nil {
		return nil, 0, fmt.Errorf("reading the journal: %w", err)
	}
	records, unreadable := parse(content)
	return records, unreadable, nil
}

// parse reads whole and torn lines alike; what is not a record is counted.
func parse(content []byte) (records []Record, unreadable int) {
	for line := range bytes.Lines(content) {
		var record Record
		if err := json.Unmarshal(line, &record); err != nil || record.CommandID == "" || record.Kind == KindResult && record.Result == nil {
			unreadable++
			continue
		}
		records = append(records, record)
	}
	return records, unreadable
}
