package vf_traffic

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/influxdata/telegraf"

	"github.com/wallwatch/wallwatch/collectors/internal/netlink"
	"github.com/wallwatch/wallwatch/collectors/internal/rnicinput"
)

// host reads what the kernel counts for all RNICs of the host together.
type host struct {
	softnetFile, pressureFile string
	softnet                   [len(softnetColumns)]wideCounter
	softnetSource, pressure   rnicinput.Question
	// had is how many values there were when all could be read.
	had int
}

func newHost(procRoot string) host {
	return host{softnetFile: filepath.Join(procRoot, "net", "softnet_stat"), pressureFile: filepath.Join(procRoot, "pressure", "cpu")}
}

// softnetColumns are the fields in the first columns of softnet_stat.
var softnetColumns = [...]string{softnetProcessed, softnetDropped, softnetSqueezed}

// softnetCPUColumn is where kernels since 5.10 write the number of a line's CPU; before, CPUs that are offline shift the lines.
const softnetCPUColumn = 12

func (h *host) read(at time.Time, log telegraf.Logger) (values map[string]int64, missing int) {
	values = make(map[string]int64, len(softnetColumns)+1)
	h.softnetSource.Ask(at, "The packets of the CPUs", log, func() error {
		raw, err := os.ReadFile(h.softnetFile)
		if err != nil {
			return optional(err)
		}
		return h.addSoftnet(values, string(raw))
	})
	h.pressure.Ask(at, "The pressure on the CPUs", log, func() error {
		raw, err := os.ReadFile(h.pressureFile)
		if err != nil {
			return optional(err)
		}
		total, err := pressureTotal(string(raw))
		if err == nil {
			values[cpuPressure] = total
		}
		return err
	})
	missing = max(h.had-len(values), 0)
	h.had = max(h.had, len(values))
	return values, missing
}

// optional: a kernel that was built or started without this file's source lacks it, which is no failure.
func optional(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.EOPNOTSUPP) {
		return fmt.Errorf("%w: %w", netlink.ErrUnsupported, err)
	}
	return err
}

// addSoftnet sums the lines of softnet_stat, one for each CPU.
func (h *host) addSoftnet(values map[string]int64, text string) error {
	var lines [][len(softnetColumns)]uint32
	var cpus []int
	for line := range strings.Lines(text) {
		columns := strings.Fields(line)
		if len(columns) < len(softnetColumns) {
			return fmt.Errorf("%q: a line with %d columns: %q", h.softnetFile, len(columns), line)
		}
		var counts [len(softnetColumns)]uint32
		for i := range counts {
			count, err := strconv.ParseUint(columns[i], 16, 32)
			if err != nil {
				return fmt.Errorf("%q: %w", h.softnetFile, err)
			}
			counts[i] = uint32(count)
		}
		cpu := len(cpus)
		if len(columns) > softnetCPUColumn {
			if number, err := strconv.ParseInt(columns[softnetCPUColumn], 16, 32); err == nil {
				cpu = int(number)
			}
		}
		lines, cpus = append(lines, counts), append(cpus, cpu)
	}
	for i, field := range softnetColumns {
		for line, cpu := range cpus {
			h.softnet[i].add(cpu, lines[line][i])
		}
		values[field] = h.softnet[i].total
	}
	return nil
}

// wideCounter continues the sum of counters that have 32 bits each: a busy CPU's count of packets wraps within the hour.
type wideCounter struct {
	last  map[int]uint32
	total int64
}

func (w *wideCounter) add(part int, count uint32) {
	if w.last == nil {
		w.last = make(map[int]uint32)
	}
	w.total += int64(count - w.last[part]) // continues through a wrap by itself
	w.last[part] = count
}

// pressureTotal takes the total of the line `some avg10=0.00 avg60=0.00 avg300=0.00 total=12345`, in microseconds.
func pressureTotal(text string) (int64, error) {
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "some ") {
			continue
		}
		for _, word := range strings.Fields(line) {
			if digits, ok := strings.CutPrefix(word, "total="); ok {
				return strconv.ParseInt(digits, 10, 64)
			}
		}
	}
	return 0, fmt.Errorf("no total in the CPU pressure %q", text)
}
