package cgroup

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/wallwatch/wallwatch/collectors/internal/sysfs/sysfstest"
)

func TestAGroupIsRead(t *testing.T) {
	group := sysfstest.Build(t, `
cpu.stat = usage_usec 1500000\nuser_usec 1\nthrottled_usec 250
cpuset.cpus.effective = 8,0-2
cpu.max = 50000 100000
cgroup.procs = 3\n5
below/cgroup.procs = 7`)
	usage, err := CPU(group)
	if err != nil || usage != (Usage{1500 * time.Millisecond, 250 * time.Microsecond}) {
		t.Errorf("%v, %v", usage, err)
	}
	if cpus, err := CPUs(group); err != nil || !slices.Equal(cpus, []int{0, 1, 2, 8}) {
		t.Errorf("%v, %v", cpus, err)
	}
	if cores, limited, err := Quota(group); err != nil || !limited || cores != 0.5 {
		t.Errorf("%v, %t, %v", cores, limited, err)
	}
	if pids, err := Processes(group); err != nil || !slices.Equal(pids, []int{3, 5, 7}) {
		t.Errorf("%v, %v", pids, err)
	}
}

func TestNoQuotaIsNoLimit(t *testing.T) {
	for _, text := range []string{"", "cpu.max = max 100000"} {
		if _, limited, err := Quota(sysfstest.Build(t, text)); limited || err != nil {
			t.Errorf("%q: %t, %v", text, limited, err)
		}
	}
}

func TestUnknownContentIsAnErrorAndNoFileIsANother(t *testing.T) {
	group := sysfstest.Build(t, `
cpu.stat = nr_periods 4
cpuset.cpus.effective = 3-1
cpu.max = much
cgroup.procs = x`)
	_, cpuErr := CPU(group)
	_, cpusErr := CPUs(group)
	_, _, quotaErr := Quota(group)
	_, procsErr := Processes(group)
	for _, err := range []error{cpuErr, cpusErr, quotaErr, procsErr} {
		if !errors.Is(err, ErrFormat) {
			t.Errorf("%v", err)
		}
	}
	if _, err := CPU(filepath.Join(group, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
}
