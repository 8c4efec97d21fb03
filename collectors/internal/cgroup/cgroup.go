// Package cgroup reads what a control group (version 2) shows about the processes in it. Its root is a parameter, so that the same code reads
// /sys/fs/cgroup and the tree of a simulated host.
package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Default is where hosts mount version 2.
const Default = "/sys/fs/cgroup"

// ErrFormat says that a file has a content that this package does not know.
var ErrFormat = errors.New("unknown content")

// mostFolders is how many groups below one are searched for processes: a runtime makes a few, and a loop of mounts has no end.
const mostFolders = 64

// Usage is the CPU time of a group since it was created.
type Usage struct {
	Used, Throttled time.Duration
}

// CPU reads cpu.stat. Without a quota the kernel shows no throttled time: it is 0.
func CPU(group string) (Usage, error) {
	path := filepath.Join(group, "cpu.stat")
	raw, err := os.ReadFile(path)
	if err != nil {
		return Usage{}, err
	}
	var u Usage
	found := false
	for line := range strings.Lines(string(raw)) {
		name, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		if name != "usage_usec" && name != "throttled_usec" {
			continue
		}
		us, err := strconv.ParseInt(text, 10, 64)
		if err != nil || us < 0 {
			return Usage{}, fmt.Errorf("%s: %q: %w", path, line, ErrFormat)
		}
		if name == "usage_usec" {
			u.Used, found = time.Duration(us)*time.Microsecond, true
		} else {
			u.Throttled = time.Duration(us) * time.Microsecond
		}
	}
	if !found {
		return Usage{}, fmt.Errorf("%s: usage_usec: %w", path, ErrFormat)
	}
	return u, nil
}

// CPUs are the numbers of the CPUs that the group may use, in ascending order.
func CPUs(group string) ([]int, error) {
	path := filepath.Join(group, "cpuset.cpus.effective")
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	cpus, err := ParseCPUs(strings.TrimSpace(string(raw)))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return cpus, nil
}

// ParseCPUs reads a list as the kernel writes it: 0-3,8.
func ParseCPUs(text string) ([]int, error) {
	var cpus []int
	for part := range strings.SplitSeq(text, ",") {
		from, to, isRange := strings.Cut(part, "-")
		if !isRange {
			to = from
		}
		first, err1 := strconv.Atoi(from)
		last, err2 := strconv.Atoi(to)
		if err1 != nil || err2 != nil || first < 0 || last < first || last > 1<<16 {
			return nil, fmt.Errorf("%q: %w", text, ErrFormat)
		}
		for cpu := first; cpu <= last; cpu++ {
			cpus = append(cpus, cpu)
		}
	}
	slices.Sort(cpus)
	return slices.Compact(cpus), nil
}

// Quota is the number of cores that cpu.max allows; ok is false where there is no quota.
func Quota(group string) (cores float64, ok bool, err error) {
	path := filepath.Join(group, "cpu.max")
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) { // the root group, or the controller is not enabled
		return 0, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	quota, period, _ := strings.Cut(strings.TrimSpace(string(raw)), " ")
	if quota == "max" {
		return 0, false, nil
	}
	q, err1 := strconv.ParseFloat(quota, 64)
	p, err2 := strconv.ParseFloat(period, 64)
	if err1 != nil || err2 != nil || q <= 0 || p <= 0 {
		return 0, false, fmt.Errorf("%s: %q: %w", path, raw, ErrFormat)
	}
	return q / p, true, nil
}

// Processes are those of the group and of the groups below it.
func Processes(group string) ([]int, error) {
	var pids []int
	folders := 0
	err := filepath.WalkDir(group, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			if path != group && errors.Is(err, fs.ErrNotExist) {
				return nil // ended while we looked
			}
			return err
		}
		if !entry.IsDir() {
			return nil
		}
		if folders++; folders > mostFolders {
			return filepath.SkipAll
		}
		raw, err := os.ReadFile(filepath.Join(path, "cgroup.procs"))
		if err != nil {
			return err
		}
		for text := range strings.FieldsSeq(string(raw)) {
			pid, err := strconv.Atoi(text)
			if err != nil {
				return fmt.Errorf("%s: %q: %w", filepath.Join(path, "cgroup.procs"), text, ErrFormat)
			}
			pids = append(pids, pid)
		}
		return nil
	})
	return pids, err
}
