package record

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// The file says what the mechanism could do at each sample, and bandwidth falls where masks are queried.
func TestPerformanceIsThatOfTheMechanism(t *testing.T) {
	o := options(t, "s6", time.Minute)
	o.Performance = true
	record(t, o)
	file, err := os.Open(filepath.Join(o.Out, PerformanceFile))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	lines, samples := bufio.NewScanner(file), 0
	for lines.Scan() {
		var l performanceLine
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			t.Fatalf("%v: %s", err, lines.Text())
		}
		if l.Host == "" || l.PCI == "" || l.At.IsZero() || l.BandwidthGbps <= 0 || l.LatencyUs <= 0 || l.AskedGbps <= 0 {
			t.Errorf("a line lacks something: %s", lines.Text())
		}
		samples++
	}
	if samples == 0 {
		t.Error("no sample was written")
	}
}

func TestPerformanceIsNotWrittenUnlessRequested(t *testing.T) {
	o := options(t, "healthy", 10*time.Second)
	record(t, o)
	if _, err := os.Stat(filepath.Join(o.Out, PerformanceFile)); !os.IsNotExist(err) {
		t.Errorf("the file is there, or cannot be read: %v", err)
	}
}
