package nf

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/wallwatch/wallwatch/collectors/internal/cgroup"
	"github.com/wallwatch/wallwatch/collectors/internal/perfcount"
)

// instance is one function in one control group.
type instance struct {
	declared  declared
	group     string
	container string
	due       time.Time

	counting   perfcount.Group
	cpus       []int
	retry      time.Time // when counters are tried again after a refusal
	refusal    string
	last       sample
	workingSet workingSet
	traffic    traffic
	own        ownMetrics
}

// sample is what rates are made from.
type sample struct {
	at     time.Time
	counts perfcount.Counts
	usage  *cgroup.Usage
}

func newInstance(d declared, group string, several bool) *instance {
	i := &instance{declared: d, group: group, container: d.Container}
	if i.container == "" || several {
		i.container = containerOf(group)
	}
	return i
}

// containerOf is the runtime's id in the name of a control group: cri-containerd-<id>.scope with systemd, <id> without.
func containerOf(group string) string {
	name := strings.TrimSuffix(filepath.Base(group), ".scope")
	for _, prefix := range []string{"cri-containerd-", "crio-", "docker-", "libpod-"} {
		name = strings.TrimPrefix(name, prefix)
	}
	return name
}

func (i *instance) tags() map[string]string {
	tags := map[string]string{"pci": i.declared.PCI, "function": i.declared.Function, "container": i.container}
	if i.declared.Pod != "" {
		tags["pod"] = i.declared.Pod
	}
	return tags
}

func (i *instance) close() {
	if i.counting != nil {
		_ = i.counting.Close()
		i.counting = nil
	}
}

// reading collects one message.
type reading struct {
	fields  map[string]any
	limits  []string
	missing int64
}

// lost notes a value that should be there; a file that never was is no loss but a host without it.
func (r *reading) lost(err error) {
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.missing++
	}
}

func (r *reading) limit(sentence string) {
	if !slices.Contains(r.limits, sentence) {
		r.limits = append(r.limits, sentence)
	}
}

func (i *instance) read(p *Plugin, now time.Time) map[string]any {
	r := &reading{fields: map[string]any{}}
	next := sample{at: now}
	i.readCPU(r, &next)
	i.readCounters(p, r, &next)
	i.workingSet.read(p, i, r, now)
	i.traffic.read(p, i, r, now)
	i.own.read(p, i, r, now)
	i.last = next
	r.fields["values_missing"] = r.missing
	if len(r.limits) > 0 {
		r.fields["host_limits"] = strings.Join(r.limits, "; ")
	}
	return r.fields
}

// readCPU reads what the group may use and what it used.
func (i *instance) readCPU(r *reading, next *sample) {
	cpus, err := cgroup.CPUs(i.group)
	if err == nil {
		cores := float64(len(cpus))
		quota, limited, quotaErr := cgroup.Quota(i.group)
		r.lost(quotaErr)
		if limited {
			cores = min(cores, quota)
		}
		r.fields["cores"] = cores
		if !slices.Equal(cpus, i.cpus) {
			i.close() // counters belong to CPUs
			i.cpus, i.retry = cpus, time.Time{}
		}
	} else {
		r.lost(err)
		r.limit("the function's CPUs are unknown: its control group has no cpuset controller (systemd: AllowedCPUs=)")
	}
	usage, err := cgroup.CPU(i.group)
	if err != nil {
		r.lost(err)
		return
	}
	next.usage = &usage
	elapsed := next.at.Sub(i.last.at)
	if i.last.usage == nil || elapsed <= 0 || usage.Used < i.last.usage.Used || usage.Throttled < i.last.usage.Throttled {
		return
	}
	if cores, known := r.fields["cores"].(float64); known && cores > 0 {
		r.fields["cpu_share"] = (usage.Used - i.last.usage.Used).Seconds() / elapsed.Seconds() / cores
	}
	r.fields["cpu_throttled_share"] = min((usage.Throttled-i.last.usage.Throttled).Seconds()/elapsed.Seconds(), 1)
}
