package nf

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/wallwatch/wallwatch/collectors/internal/cgroup"
)

const (
	megabyte = 1e6
	// longestWindow is how old cleared bits may be: touched pages only add up, so after a pause of the collector the set would be too large.
	longestWindow = time.Minute
	// mostProcesses bounds the cost of a look.
	mostProcesses = 64
)

// workingSet is the memory that a function touches. A look has two steps: bits are cleared in one gathering, and read in the next.
type workingSet struct {
	cleared, next time.Time
	pids          []int
	mb            float64
	known         bool
	refused       string
}

func (w *workingSet) read(p *Plugin, i *instance, r *reading, now time.Time) {
	switch p.WorkingSet {
	case resctrl:
		w.occupancy(p, i, r)
	case referenced:
		w.touched(p, i, r, now)
	}
	if w.known {
		r.fields["working_set_mb"] = w.mb
	}
	if w.refused != "" {
		r.limit(w.refused)
	}
}

// occupancy is how much of the last-level caches the container's monitoring group holds.
func (w *workingSet) occupancy(p *Plugin, i *instance, r *reading) {
	w.known, w.refused = false, ""
	files, err := filepath.Glob(filepath.Join(p.SysfsRoot, "fs/resctrl/mon_groups", i.container, "mon_data/mon_L3_*/llc_occupancy"))
	if err != nil || len(files) == 0 {
		w.refused = "the working set is unknown: resctrl has no monitoring group named after the container (mount resctrl, create mon_groups/<container>)"
		return
	}
	sum := uint64(0)
	for _, file := range files {
		bytes, err := p.reader.Uint(file)
		if err != nil { // Unavailable: the group's number was used a moment ago
			r.lost(err)
			return
		}
		sum += bytes
	}
	w.mb, w.known = float64(sum)/megabyte, true
}

func (w *workingSet) touched(p *Plugin, i *instance, r *reading, now time.Time) {
	if !w.cleared.IsZero() {
		window := now.Sub(w.cleared)
		w.cleared = time.Time{}
		if window > 0 && window <= longestWindow {
			w.sum(p, r)
		}
	}
	if now.Before(w.next) {
		return
	}
	w.next, w.refused, w.pids = now.Add(time.Duration(p.WorkingSetInterval)), "", nil
	pids, err := cgroup.Processes(i.group)
	if err != nil {
		r.lost(err)
		return
	}
	if len(pids) > mostProcesses {
		w.refused = fmt.Sprintf("the working set is unknown: the function has %d processes, and at most %d are looked at", len(pids), mostProcesses)
		return
	}
	for _, pid := range pids {
		err := os.WriteFile(filepath.Join(p.ProcRoot, strconv.Itoa(pid), "clear_refs"), []byte("1"), 0) // 1: all pages of the process
		switch {
		case errors.Is(err, fs.ErrNotExist): // ended
		case err != nil:
			w.refused = "the working set is unknown: clearing referenced bits needs root, or the user of the function's processes"
			return
		default:
			w.pids = append(w.pids, pid)
		}
	}
	if len(w.pids) > 0 {
		w.cleared = now
	}
}

// sum adds what the processes have touched since their bits were cleared; pages that they share count once for each.
func (w *workingSet) sum(p *Plugin, r *reading) {
	total, read := 0.0, 0
	for _, pid := range w.pids {
		kb, err := referencedKB(filepath.Join(p.ProcRoot, strconv.Itoa(pid), "smaps_rollup"))
		if err != nil {
			r.lost(err)
			continue
		}
		total += kb
		read++
	}
	if read > 0 {
		w.mb, w.known = total*1024/megabyte, true
	}
}

func referencedKB(path string) (float64, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	lines := bufio.NewScanner(bytes.NewReader(raw))
	for lines.Scan() {
		if text, is := strings.CutPrefix(lines.Text(), "Referenced:"); is {
			number, unit, _ := strings.Cut(strings.TrimSpace(text), " ")
			value, err := strconv.ParseFloat(number, 64)
			if err == nil && unit == "kB" && value >= 0 {
				return value, nil
			}
		}
	}
	return 0, fmt.Errorf("%s has no line Referenced in kB", path)
}
