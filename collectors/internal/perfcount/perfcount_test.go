package perfcount

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// The kernel may share the hardware with other events, so each part is scaled by its own share: the sum of the totals would be wrong.
func TestEachPartIsScaledByItsOwnShareOfTime(t *testing.T) {
	var c counter
	c.add(100, 1000, 1000) // counted all the time
	c.add(200, 2000, 1250) // a quarter of the time: 100 stand for 400
	c.add(200, 3000, 1250) // not at all: unknown, and Running shows it
	if c.scaled != 500 || c.sumEnabled != 3000 || c.sumRunning != 1250 {
		t.Errorf("%v in %v of %v", c.scaled, c.sumRunning, c.sumEnabled)
	}
}

func TestWhatTheHostRefusesIsExplained(t *testing.T) {
	paranoid := filepath.Join(t.TempDir(), "paranoid")
	if err := os.WriteFile(paranoid, []byte("3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	k := Kernel{Paranoid: paranoid}
	for err, want := range map[error]string{
		unix.EACCES: "perf_event_paranoid (now 3)", unix.EPERM: "CAP_PERFMON", unix.ENOSYS: "no perf_event_open", unix.EMFILE: "LimitNOFILE",
		unix.EBADF: "version 2", unix.EIO: "memory reads cannot be counted",
	} {
		if sentence, _ := k.explain(MemoryReads, err); !strings.Contains(sentence, want) {
			t.Errorf("%v: %q does not say %q", err, sentence, want)
		}
	}
	if sentence, hopeless := k.explain(CacheReads, unix.ENOENT); sentence != "" || hopeless {
		t.Errorf("a counter that the hardware lacks: %q, %t", sentence, hopeless)
	}
}

func TestAGroupThatIsGoneOrHasTooManyCPUsIsRefused(t *testing.T) {
	if _, err := (Kernel{}).Open(filepath.Join(t.TempDir(), "none"), []int{0}); !errors.Is(err, ErrGone) {
		t.Errorf("%v", err)
	}
	if _, err := (Kernel{}).Open(t.TempDir(), make([]int, mostCPUs+1)); err == nil || !strings.Contains(err.Error(), "cpuset") {
		t.Errorf("%v", err)
	}
}

// The real kernel, with events that need no hardware: a virtual machine seldom has counters. Skipped where the kernel does not allow it.
func TestTheKernelCountsAGroupOfProcesses(t *testing.T) {
	group := ""
	for _, root := range []string{"/sys/fs/cgroup/perf_event", "/sys/fs/cgroup/unified", "/sys/fs/cgroup"} {
		if _, err := os.Stat(filepath.Join(root, "cgroup.procs")); err == nil {
			group = root
			break
		}
	}
	if group == "" {
		t.Skip("this host mounts no control groups")
	}
	var codes [Events]eventCode
	for event := range codes {
		codes[event] = eventCode{unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_CPU_CLOCK}
	}
	codes[MemoryWrites] = eventCode{unix.PERF_TYPE_SOFTWARE, 1 << 30} // no such event
	g, err := Kernel{Paranoid: "/proc/sys/kernel/perf_event_paranoid"}.open(group, []int{0}, codes, L2)
	if err != nil {
		t.Skipf("this kernel does not let us count: %v", err)
	}
	defer func() { _ = g.Close() }()
	before, err := g.Read()
	if err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(20 * time.Second)
	for {
		after, err := g.Read()
		if err != nil {
			t.Fatal(err)
		}
		if after[Cycles].Value > before[Cycles].Value && after[Cycles].Running > before[Cycles].Running {
			if after[MemoryWrites] != nil || !strings.Contains(strings.Join(g.Limits(), ""), "no counter for memory writes") {
				t.Errorf("an event that the kernel does not know: %v, %q", after[MemoryWrites], g.Limits())
			}
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the clock of CPU 0 did not count anything of the group of all processes")
		}
	}
}
