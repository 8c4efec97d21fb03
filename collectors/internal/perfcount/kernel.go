package perfcount

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Kernel is a Source that asks this host's kernel.
type Kernel struct {
	// Devices is /sys/bus/event_source/devices: it has the number of the Arm cores' event source.
	Devices string
	// Paranoid is /proc/sys/kernel/perf_event_paranoid.
	Paranoid string
}

// mostCPUs bounds the open files and the cost of a reading: six for each CPU.
const mostCPUs = 64

type eventCode struct {
	kind   uint32
	config uint64
}

// Armv8's numbers of events (Arm Architecture Reference Manual, D11.11).
const (
	l2dCacheRd  = 0x50
	l2dCacheWr  = 0x51
	memAccessRd = 0x66
	memAccessWr = 0x67
)

func (k Kernel) codes() ([Events]eventCode, Level) {
	found := [Events]eventCode{
		Cycles:       {unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_CPU_CYCLES},
		Instructions: {unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_INSTRUCTIONS},
		CacheReads:   lastLevel(unix.PERF_COUNT_HW_CACHE_OP_READ, unix.PERF_COUNT_HW_CACHE_RESULT_ACCESS),
		CacheWrites:  lastLevel(unix.PERF_COUNT_HW_CACHE_OP_WRITE, unix.PERF_COUNT_HW_CACHE_RESULT_ACCESS),
		MemoryReads:  lastLevel(unix.PERF_COUNT_HW_CACHE_OP_READ, unix.PERF_COUNT_HW_CACHE_RESULT_MISS),
		MemoryWrites: lastLevel(unix.PERF_COUNT_HW_CACHE_OP_WRITE, unix.PERF_COUNT_HW_CACHE_RESULT_MISS),
	}
	kind, ok := k.armSource()
	if !ok {
		return found, LLC
	}
	for event, config := range map[Event]uint64{CacheReads: l2dCacheRd, CacheWrites: l2dCacheWr, MemoryReads: memAccessRd, MemoryWrites: memAccessWr} {
		found[event] = eventCode{kind, config}
	}
	return found, L2
}

func lastLevel(operation, result uint64) eventCode {
	return eventCode{unix.PERF_TYPE_HW_CACHE, unix.PERF_COUNT_HW_CACHE_LL | operation<<8 | result<<16}
}

// armSource is the number of the event source of Armv8 cores, whose name has the version of the unit and sometimes the core.
func (k Kernel) armSource() (uint32, bool) {
	if runtime.GOARCH != "arm64" {
		return 0, false
	}
	entries, err := os.ReadDir(k.Devices)
	if err != nil {
		return 0, false
	}
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), "armv8_") {
			continue
		}
		raw, err := os.ReadFile(k.Devices + "/" + entry.Name() + "/type")
		if err != nil {
			continue
		}
		if kind, err := strconv.ParseUint(strings.TrimSpace(string(raw)), 10, 32); err == nil {
			return uint32(kind), true
		}
	}
	return 0, false
}

// Open implements Source. Events that the host does not count are left out and named in Limits; an error means that nothing can be counted.
func (k Kernel) Open(group string, cpus []int) (Group, error) {
	if len(cpus) > mostCPUs {
		return nil, fmt.Errorf("the function may run on %d CPUs: counting more than %d costs too much; give it a cpuset", len(cpus), mostCPUs)
	}
	codes, level := k.codes()
	return k.open(group, cpus, codes, level)
}

func (k Kernel) open(group string, cpus []int, codes [Events]eventCode, level Level) (Group, error) {
	folder, err := unix.Open(group, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ENOENT) {
		return nil, fmt.Errorf("%s: %w", group, ErrGone)
	}
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: group, Err: err}
	}
	g := &kernelGroup{folder: folder, level: level}
	for event := range Events {
		for _, cpu := range cpus {
			fd, err := openEvent(codes[event], folder, cpu)
			if err == nil {
				g.counters[event] = append(g.counters[event], &counter{fd: fd})
				continue
			}
			g.closeEvent(event) // some CPUs of a group are no count of the group
			sentence, hopeless := k.explain(event, err)
			if hopeless {
				_ = g.Close()
				return nil, errors.New(sentence)
			}
			if sentence == "" {
				g.without = append(g.without, event)
			} else {
				g.limits = append(g.limits, sentence)
			}
			break
		}
	}
	return g, nil
}

func openEvent(code eventCode, folder, cpu int) (int, error) {
	attributes := unix.PerfEventAttr{
		Type: code.kind, Config: code.config, Size: uint32(unsafe.Sizeof(unix.PerfEventAttr{})),
		Read_format: unix.PERF_FORMAT_TOTAL_TIME_ENABLED | unix.PERF_FORMAT_TOTAL_TIME_RUNNING,
	}
	return unix.PerfEventOpen(&attributes, folder, cpu, -1, unix.PERF_FLAG_PID_CGROUP|unix.PERF_FLAG_FD_CLOEXEC)
}

// explain says what an error means for whoever runs the host: nothing where the hardware just has no such counter. Hopeless is one that all
// events would meet.
func (k Kernel) explain(event Event, err error) (sentence string, hopeless bool) {
	switch {
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		level := "unknown"
		if raw, err := os.ReadFile(k.Paranoid); err == nil {
			level = strings.TrimSpace(string(raw))
		}
		return fmt.Sprintf("hardware counters are not allowed: give the collector CAP_PERFMON, or set kernel.perf_event_paranoid (now %s) to 0", level), true
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENODEV), errors.Is(err, unix.ENXIO):
		return "", false
	case errors.Is(err, unix.ENOSYS):
		return "the kernel has no perf_event_open", true
	case errors.Is(err, unix.EBADF), errors.Is(err, unix.EINVAL):
		return "the control group cannot be counted: perf needs a group of version 2, or of the controller perf_event", true
	case errors.Is(err, unix.EMFILE):
		return "too many open files: raise the collector's limit (LimitNOFILE)", true
	default:
		return fmt.Sprintf("%s cannot be counted: %v", event, err), false
	}
}

// counter is one event on one CPU. The kernel may share the hardware, so each part of the count is scaled by its own share of time.
type counter struct {
	fd                     int
	raw, enabled, running  uint64
	scaled                 float64
	sumEnabled, sumRunning time.Duration
}

type kernelGroup struct {
	folder   int
	level    Level
	limits   []string
	without  []Event
	counters [Events][]*counter
}

func (g *kernelGroup) Level() Level { return g.level }

// Limits implements Group.
func (g *kernelGroup) Limits() []string { return append(uncounted(g.without), g.limits...) }

// Read implements Group.
func (g *kernelGroup) Read() (Counts, error) {
	var counts Counts
	for event, counters := range g.counters {
		if counters == nil {
			continue
		}
		sum := &Count{}
		for _, c := range counters {
			if err := c.read(); err != nil {
				return Counts{}, fmt.Errorf("reading the count of %s: %w", Event(event), err)
			}
			sum.Value += c.scaled
			sum.Enabled += c.sumEnabled
			sum.Running += c.sumRunning
		}
		counts[event] = sum
	}
	return counts, nil
}

func (c *counter) read() error {
	var buffer [24]byte
	n, err := unix.Read(c.fd, buffer[:])
	if err != nil {
		return err
	}
	if n != len(buffer) {
		return fmt.Errorf("%d bytes instead of %d", n, len(buffer))
	}
	c.add(binary.NativeEndian.Uint64(buffer[0:]), binary.NativeEndian.Uint64(buffer[8:]), binary.NativeEndian.Uint64(buffer[16:]))
	return nil
}

// add takes a reading. A part in which the event was enabled and never counted stays out of the count: Running shows that.
func (c *counter) add(raw, enabled, running uint64) {
	count, on, counted := raw-c.raw, enabled-c.enabled, running-c.running
	c.raw, c.enabled, c.running = raw, enabled, running
	c.sumEnabled += time.Duration(on)      //nolint:gosec // nanoseconds since the group was opened: 292 years fit
	c.sumRunning += time.Duration(counted) //nolint:gosec // the same
	if counted > 0 {
		c.scaled += float64(count) * float64(on) / float64(counted)
	}
}

func (g *kernelGroup) closeEvent(event Event) {
	for _, c := range g.counters[event] {
		_ = unix.Close(c.fd)
	}
	g.counters[event] = nil
}

// Close implements Group.
func (g *kernelGroup) Close() error {
	for event := range Events {
		g.closeEvent(event)
	}
	return unix.Close(g.folder)
}
