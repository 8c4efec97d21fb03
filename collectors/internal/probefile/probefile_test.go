package probefile

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

var noon = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

func TestWhatIsWrittenIsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "probes.json")
	for _, want := range []Delays{
		{At: noon, VFs: []Delay{{PCI: "0000:3b:00.0", VF: 3, P50US: 11.5, P99US: 48, Count: 9}}},
		{At: noon.Add(time.Second), VFs: []Delay{}},
	} {
		if err := Write(path, want); err != nil {
			t.Fatal(err)
		}
		if got, err := Read(path); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, %v\nwant %+v", got, err, want)
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != mode {
		t.Errorf("the collector cannot read a file of mode %s, %v", info.Mode(), err)
	}
}

func TestAFileThatIsNotTheProbersIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "probes.json")
	if _, err := Read(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a file: %v", err)
	}
	for content, want := range map[string]string{
		"": "not the prober's JSON", `{"vfs": []}`: "`at` is missing",
		`{"at": "2026-11-01T12:00:00Z", "vfs": [{"vf": 1, "p50_us": 1, "p99_us": 2, "count": 1}]}`:              "names its function",
		`{"at": "2026-11-01T12:00:00Z", "vfs": [{"pci": "a", "vf": 1, "p50_us": 3, "p99_us": 2, "count": 1}]}`:  "not quantiles",
		`{"at": "2026-11-01T12:00:00Z", "vfs": [{"pci": "a", "vf": 1, "p50_us": -1, "p99_us": 2, "count": 1}]}`: "not quantiles",
		`{"at": "2026-11-01T12:00:00Z", "vfs": [{"pci": "a", "vf": 1, "p50_us": 1, "p99_us": 2}]}`:              "count is 0",
		strings.Repeat(" ", longest+1): "longer than",
	} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80q: %v, want %q", content, err, want)
		}
	}
}

func TestADelayThatIsNoneIsNotWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "probes.json")
	for _, bad := range []Delays{{}, {At: noon, VFs: []Delay{{PCI: "a", P50US: math.NaN(), P99US: 1, Count: 1}}}} {
		if err := Write(path, bad); err == nil {
			t.Errorf("%+v was written", bad)
		}
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file is there: %v", err)
	}
}
