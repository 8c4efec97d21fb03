package smartnicfs

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/smartnic"
)

// Folders below the host's folder.
const (
	declaredFolder = "functions.d"
	ownFolder      = "own-metrics"
	counterFolder  = "perf"
	cgroupFolder   = "sys/fs/cgroup"
)

// clean removes what an earlier run left.
func (h *Host) clean() error {
	old, err := filepath.Glob(filepath.Join(h.root, "proc/[0-9]*"))
	for _, folder := range []string{declaredFolder, ownFolder, counterFolder, cgroupFolder} {
		old = append(old, filepath.Join(h.root, folder))
	}
	for _, path := range old {
		err = errors.Join(err, os.RemoveAll(path))
	}
	return err
}

// Write brings the files up to date.
func (h *Host) Write() error {
	var errs []error
	for _, r := range h.planned {
		if r.running == nil {
			errs = append(errs, h.remove(r))
			continue
		}
		for name, text := range h.files(r) {
			errs = append(errs, h.put(name, text))
		}
	}
	return errors.Join(errs...)
}

func (h *Host) files(r *resident) map[string]string {
	f, group := r.running, filepath.Join(cgroupFolder, r.cgroup())
	process, statistics := fmt.Sprintf("proc/%d", r.pid()), filepath.Join("sys/class/net", r.representor(), "statistics")
	declared, _ := json.Marshal(map[string]string{ // texts only: it cannot fail
		"function": r.kind.Name, "pci": r.plan.RNIC, "cgroup": r.cgroup(), "container": r.plan.Container(), "pod": r.plan.Pod,
		"representor": r.representor(), "metrics": filepath.Join("..", ownFolder, r.plan.Container()+".prom"),
	})
	cpus := fmt.Sprintf("%d-%d", r.firstCore, r.firstCore+r.plan.Cores-1)
	if r.plan.Cores == 1 {
		cpus = fmt.Sprint(r.firstCore)
	}
	return map[string]string{
		filepath.Join(declaredFolder, r.plan.Container()+".json"): string(declared),
		filepath.Join(group, "cgroup.procs"):                      fmt.Sprint(r.pid()),
		filepath.Join(group, "cpuset.cpus.effective"):             cpus,
		filepath.Join(group, "cpu.max"):                           "max 100000",
		filepath.Join(group, "cpu.stat"):                          fmt.Sprintf("usage_usec %d\nthrottled_usec 0", f.CPU.Microseconds()),
		filepath.Join(counterFolder, r.cgroup()+".csv"):           counterText(f, r.plan.Container()),
		filepath.Join(process, "smaps_rollup"):                    fmt.Sprintf("00400000-7fff0000 ---p 00000000 00:00 0 [rollup]\nReferenced: %d kB", int(f.WorkingSetMB()*1e6/1024)),
		filepath.Join(process, "clear_refs"):                      "0",
		filepath.Join(statistics, "tx_packets"):                   fmt.Sprint(uint64(f.Processed)),
		filepath.Join(statistics, "tx_bytes"):                     fmt.Sprint(uint64(f.Bytes)),
		filepath.Join(statistics, "tx_dropped"):                   fmt.Sprint(uint64(max(f.Offered-f.Processed, 0))),
		filepath.Join(ownFolder, r.plan.Container()+".prom"):      h.ownText(f),
	}
}

// counterText is what `perf stat --field-separator ,` prints for a control group.
func counterText(f *smartnic.Function, group string) string {
	var text strings.Builder
	for _, one := range []struct {
		event string
		value float64
	}{
		{"cycles", f.Cycles}, {"instructions", f.Instructions}, {"l2d_cache_rd", f.CacheReads}, {"l2d_cache_wr", f.CacheWrites},
		{"mem_access_rd", f.MemoryReads}, {"mem_access_wr", f.MemoryWrites},
	} {
		fmt.Fprintf(&text, "%d,,%s,%s,%d,100.00\n", uint64(one.value), one.event, group, f.CPU.Nanoseconds())
	}
	return strings.TrimSpace(text.String())
}

func (h *Host) ownText(f *smartnic.Function) string {
	text := fmt.Sprintf("nf_flows %d\nnf_processed_packets_total %d\nnf_offered_packets_total %d", uint64(f.Traffic.Flows), uint64(f.Processed), uint64(f.Offered))
	if f.Kind.UsesRegex() {
		text += fmt.Sprintf("\nnf_scanned_bytes_total %d\nnf_matches_total %d", uint64(f.Bytes), uint64(f.Matches))
	}
	// A comment with the time: also a function without packets writes its file again.
	return text + "\n# written " + h.Clock().UTC().Format(time.RFC3339Nano)
}

// put replaces a file whose content changed. Nobody sees half of it: counters of one moment belong together.
func (h *Host) put(name, text string) error {
	if h.written[name] == text {
		return nil
	}
	path := filepath.Join(h.root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(path+".new", []byte(text+"\n"), 0o644); err != nil { //nolint:gosec // collectors of other users read it
		return err
	}
	if err := os.Rename(path+".new", path); err != nil {
		return err
	}
	h.written[name] = text
	return nil
}

// remove takes away what is shown of a function whose container does not run.
func (h *Host) remove(r *resident) error {
	declared := filepath.Join(declaredFolder, r.plan.Container()+".json")
	if _, shown := h.written[declared]; !shown {
		return nil
	}
	delete(h.written, declared)
	var errs []error
	for _, path := range []string{
		declared, filepath.Join(cgroupFolder, r.cgroup()), filepath.Join(counterFolder, r.cgroup()+".csv"), fmt.Sprintf("proc/%d", r.pid()),
		filepath.Join("sys/class/net", r.representor()), filepath.Join(ownFolder, r.plan.Container()+".prom"),
	} {
		errs = append(errs, os.RemoveAll(filepath.Join(h.root, path)))
	}
	for name := range h.written {
		if strings.Contains(name, r.plan.Container()) || strings.HasPrefix(name, fmt.Sprintf("proc/%d/", r.pid())) || strings.Contains(name, "/"+r.representor()+"/") {
			delete(h.written, name)
		}
	}
	return errors.Join(errs...)
}
