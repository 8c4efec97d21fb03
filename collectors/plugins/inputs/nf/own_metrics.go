package nf

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

// Names of what a function may say about itself, in Prometheus' text format. Totals only grow while it runs.
const (
	ownFlows     = "nf_flows"
	ownProcessed = "nf_processed_packets_total"
	ownOffered   = "nf_offered_packets_total"
	ownBytes     = "nf_scanned_bytes_total"
	ownMatches   = "nf_matches_total"
)

const (
	// oldest is how old the file may be: a function that stopped writing says nothing.
	oldest      = time.Minute
	largestFile = 1 << 20
	bytesPerMB  = 1e6
)

// ownMetrics are the function's own, which only it can know: flows, matches per byte. They go before what is seen from outside.
type ownMetrics struct {
	last    map[string]float64
	written time.Time
}

func (o *ownMetrics) read(p *Plugin, i *instance, r *reading, now time.Time) {
	o.readFile(i, r, now)
	if _, known := r.fields["flows"]; !known {
		if flows, ok := trackedFlows(p, i.group); ok {
			r.fields["flows"] = flows
		}
	}
}

func (o *ownMetrics) readFile(i *instance, r *reading, now time.Time) {
	if i.declared.Metrics == "" {
		return
	}
	info, err := os.Stat(i.declared.Metrics)
	if errors.Is(err, fs.ErrNotExist) {
		r.limit("the function has not written its own metrics yet")
		return
	}
	if err == nil && (info.Size() > largestFile || !info.Mode().IsRegular()) {
		err = errors.New("it is no small regular file")
	}
	var values map[string]float64
	if err == nil {
		values, err = readText(i.declared.Metrics)
	}
	if err != nil {
		r.missing++
		r.limit("the function's own metrics cannot be read")
		return
	}
	if age := now.Sub(info.ModTime()); age > oldest || age < -oldest {
		r.limit("the function's own metrics are stale")
		o.last = nil
		return
	}
	if flows, known := values[ownFlows]; known && flows >= 0 && flows < 1<<53 {
		r.fields["flows"] = int64(flows)
	}
	o.rates(r, values, info.ModTime())
}

// rates are over the time between the two last writings: the function writes in its own rhythm.
func (o *ownMetrics) rates(r *reading, values map[string]float64, written time.Time) {
	before, elapsed := o.last, written.Sub(o.written).Seconds()
	o.last, o.written = values, written
	if before == nil || elapsed <= 0 {
		return
	}
	grown := func(name string) (float64, bool) {
		now, is := values[name]
		then, was := before[name]
		return now - then, is && was && now >= then
	}
	if packets, known := grown(ownProcessed); known {
		r.fields["throughput_kpps"] = packets / elapsed / 1000
		delete(r.fields, "offered_kpps") // the representor's belongs to its own throughput
	}
	if packets, known := grown(ownOffered); known {
		r.fields["offered_kpps"] = packets / elapsed / 1000
	}
	matches, known := grown(ownMatches)
	scanned, alsoKnown := grown(ownBytes)
	if known && alsoKnown && scanned > 0 {
		r.fields["mtbr_per_mb"] = matches / (scanned / bytesPerMB)
	}
}

func readText(path string) (map[string]float64, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	values := map[string]float64{}
	for line := range strings.Lines(string(raw)) {
		words := strings.Fields(line)
		if len(words) < 2 || !strings.HasPrefix(words[0], "nf_") {
			continue
		}
		value, err := strconv.ParseFloat(words[1], 64)
		if err != nil || math.IsNaN(value) || math.IsInf(value, 0) {
			return nil, fmt.Errorf("%s: %q is no number", path, words[1])
		}
		values[words[0]] = value
	}
	return values, nil
}

// trackedFlows is the size of the connection table of the function's network namespace, if that is its own: in the host's namespace the table
// is everybody's.
func trackedFlows(p *Plugin, group string) (int64, bool) {
	raw, err := os.ReadFile(filepath.Join(group, "cgroup.procs"))
	if err != nil {
		return 0, false
	}
	first, _, _ := strings.Cut(strings.TrimSpace(string(raw)), "\n")
	number, err := strconv.Atoi(first)
	if err != nil {
		return 0, false
	}
	pid := strconv.Itoa(number)
	host, err1 := os.Readlink(filepath.Join(p.ProcRoot, "1/ns/net"))
	own, err2 := os.Readlink(filepath.Join(p.ProcRoot, pid, "ns/net"))
	if err1 != nil || err2 != nil || host == own {
		return 0, false
	}
	table, err := os.ReadFile(filepath.Join(p.ProcRoot, pid, "net/stat/nf_conntrack"))
	if err != nil {
		return 0, false
	}
	lines := strings.Split(string(table), "\n")
	if len(lines) < 2 || !strings.HasPrefix(lines[0], "entries") {
		return 0, false
	}
	words := strings.Fields(lines[1])
	if len(words) == 0 {
		return 0, false
	}
	entries, err := strconv.ParseInt(words[0], 16, 64) // the same in the line of each CPU
	return entries, err == nil
}
