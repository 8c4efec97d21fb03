package perfcount

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Files is a Source that reads `<Folder>/<group below CgroupRoot>.csv`, in the words of
// `perf stat --field-separator , --for-each-cgroup GROUP`: value, unit, event, cgroup, time in ns for which it was counted, percentage of the
// time for which it should have been. Values are totals since the group's beginning, scaled by perf.
type Files struct{ Folder, CgroupRoot string }

var names = map[string]Event{
	"cycles": Cycles, "instructions": Instructions,
	"l2d_cache_rd": CacheReads, "l2d_cache_wr": CacheWrites, "mem_access_rd": MemoryReads, "mem_access_wr": MemoryWrites,
	"LLC-loads": CacheReads, "LLC-stores": CacheWrites, "LLC-load-misses": MemoryReads, "LLC-store-misses": MemoryWrites,
}

// Open implements Source.
func (f Files) Open(group string, _ []int) (Group, error) {
	below, err := filepath.Rel(f.CgroupRoot, group)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(f.Folder, below+".csv")
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	return &fileGroup{path: path, level: LLC}, nil
}

type fileGroup struct {
	path    string
	level   Level
	without []Event
}

func (g *fileGroup) Level() Level     { return g.level }
func (g *fileGroup) Limits() []string { return uncounted(g.without) }
func (*fileGroup) Close() error       { return nil }

// Read implements Group.
func (g *fileGroup) Read() (Counts, error) {
	raw, err := os.ReadFile(g.path)
	if errors.Is(err, fs.ErrNotExist) {
		return Counts{}, fmt.Errorf("%s: %w", g.path, ErrGone)
	}
	if err != nil {
		return Counts{}, err
	}
	var counts Counts
	g.without = nil
	for line := range strings.Lines(string(raw)) {
		fields := strings.Split(strings.TrimSpace(line), ",")
		if len(fields) < 6 || strings.HasPrefix(line, "#") {
			continue
		}
		event, known := names[fields[2]]
		if !known {
			continue
		}
		if strings.HasPrefix(fields[2], "l2d") {
			g.level = L2
		}
		switch fields[0] {
		case "<not supported>":
			g.without = append(g.without, event)
			continue
		case "<not counted>": // the group did not run, or had no share of the hardware: unknown
			continue
		}
		count, err := parse(fields)
		if err != nil {
			return Counts{}, fmt.Errorf("%s: %q: %w", g.path, strings.TrimSpace(line), err)
		}
		counts[event] = count
	}
	return counts, nil
}

func parse(fields []string) (*Count, error) {
	value, err1 := strconv.ParseFloat(fields[0], 64)
	running, err2 := strconv.ParseFloat(fields[4], 64)
	percent, err3 := strconv.ParseFloat(fields[5], 64)
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, err
	}
	if !(value >= 0 && running >= 0 && percent > 0 && percent <= 100) || math.IsInf(value, 0) {
		return nil, errors.New("a value is out of its range")
	}
	return &Count{Value: value, Running: time.Duration(running), Enabled: time.Duration(running * 100 / percent)}, nil
}
