package kernel_events

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/wallwatch/wallwatch/collectors/internal/kmsg"
)

// The lines of a stack trace.
var (
	// frameLine is ` [<address>] ? function+0x1/0x2 [module]`; addresses and the module are optional, `?` marks a frame that is only a guess.
	frameLine = regexp.MustCompile(`^\s*(?:\[<?[0-9a-f]+>?\]\s+)*(\?\s+)?([A-Za-z_][\w.]*)\+0x[0-9a-f]+/0x[0-9a-f]+(?:\s+\[(\w+)(?:\s+[0-9a-f]+)?\])?`)
	// pointerLine is the instruction that the processor was at: it is the innermost frame, printed before the others.
	pointerLine = regexp.MustCompile(`^(?:RIP: [0-9a-f]{4}:|IP: |pc : |PC is at |NIP )(.*)$`)
	// processLine is `CPU: 6 PID: 25693 Comm: java Not tainted 6.8.0`.
	processLine = regexp.MustCompile(`^CPU: \d+ (?:UID: \d+ )?PID: (\d+) Comm: (.*?) (?:Not tainted|Tainted|Kdump)`)
	traceEnd    = regexp.MustCompile(`^\s*(?:</TASK>|---\[ end trace)`)
	headPID     = regexp.MustCompile(`(?:\[.*|INFO: task .*):(\d+)(?:\]| )`)
	// stackStart introduces the stack of one processor, or of one task, in a report about several.
	stackStart = regexp.MustCompile(`^(?:NMI backtrace for cpu (\d+)$|Task dump for CPU \d+:|task:(\S.*?) +state:\S.* pid: *(\d+) )`)
	pciAddress = regexp.MustCompile(`\b[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]\b`)
)

// traceLines is more than any trace has, and traceTime more than the kernel needs to print one.
const (
	traceLines = 400
	traceTime  = 5 * time.Second
	keptFrames = 8
)

// frame is one function on a stack.
type frame struct{ function, module string }

// trace is a line that began a stack trace, and what the lines after it said.
type trace struct {
	head   *match
	record kmsg.Record
	// before is the position in the log before the head: a reader that starts again there sees the whole trace again.
	before kmsg.Position
	frames []frame
	task   string
	pid    string
	device string
	lines  int
	// between is set between the end of one processor's stack and the beginning of the next, when lines are no part of the report.
	between bool
}

func newTrace(head *match, r kmsg.Record, before kmsg.Position) *trace {
	t := &trace{head: head, record: r, before: before, task: head.groups["task"]}
	if found := headPID.FindStringSubmatch(r.Text); found != nil {
		t.pid = found[1]
	}
	return t
}

// add takes one more line and reports whether the trace is complete.
func (t *trace) add(r kmsg.Record) bool {
	t.lines++
	if t.lines >= traceLines {
		return true
	}
	if t.head.Several {
		return t.addOfSeveral(r)
	}
	t.addLine(r)
	return traceEnd.MatchString(r.Text)
}

// addOfSeveral takes one more line of a report about several processors: it is complete with the first stack that an RNIC's driver is on.
func (t *trace) addOfSeveral(r kmsg.Record) bool {
	if found := stackStart.FindStringSubmatch(r.Text); found != nil {
		if driver, _ := t.driver(); driver != "" {
			return true
		}
		t.frames, t.between, t.task, t.pid = nil, false, found[2], found[3]
		return false
	}
	if t.between {
		return false
	}
	t.addLine(r)
	t.between = traceEnd.MatchString(r.Text)
	driver, _ := t.driver()
	return t.between && driver != ""
}

// addLine takes what one line says of the stack.
func (t *trace) addLine(r kmsg.Record) {
	if found := pointerLine.FindStringSubmatch(r.Text); found != nil {
		t.addFrame(found[1])
	} else {
		t.addFrame(r.Text)
	}
	if found := processLine.FindStringSubmatch(r.Text); found != nil {
		if t.pid == "" {
			t.pid = found[1]
		}
		if t.task == "" {
			t.task = found[2]
		}
	}
	if t.device == "" {
		t.device = deviceOf(r)
	}
}

// concerns reports whether the stack of a processor, which that processor prints itself, belongs to the trace.
func (t *trace) concerns(cpu string) bool { return t.head.Several || t.head.groups["cpu"] == cpu }

func (t *trace) addFrame(text string) {
	found := frameLine.FindStringSubmatch(text)
	if found == nil || found[1] != "" || len(t.frames) >= traceLines {
		return
	}
	next := frame{function: found[2], module: found[3]}
	// The instruction pointer is printed again at the end of an oops.
	if !slices.Contains(t.frames, next) {
		t.frames = append(t.frames, next)
	}
}

// drivers are the modules of RNICs, and how their functions begin where the driver is built into the kernel.
var drivers = []struct{ module, prefix string }{
	{"mlx5_ib", "mlx5_ib_"}, {"mlx5_core", "mlx5"}, {"irdma", "irdma_"}, {"ice", "ice_"}, {"bnxt_re", "bnxt_re_"}, {"bnxt_en", "bnxt_"},
}

// driver returns the RNIC driver that the trace runs through and its innermost function, "" where there is none.
func (t *trace) driver() (module, function string) {
	for _, f := range t.frames {
		for _, d := range drivers {
			if f.module == d.module || f.module == "" && strings.HasPrefix(f.function, d.prefix) {
				return d.module, f.function
			}
		}
	}
	return "", ""
}

// names are the innermost functions, for people.
func (t *trace) names() string {
	names := make([]string, 0, keptFrames)
	for _, f := range t.frames[:min(len(t.frames), keptFrames)] {
		names = append(names, f.function)
	}
	return strings.Join(names, " < ")
}

// deviceOf is the PCI address that a record is about, "" where it names none.
func deviceOf(r kmsg.Record) string {
	if device, ok := strings.CutPrefix(r.Device, "+pci:"); ok {
		return device
	}
	return pciAddress.FindString(r.Text)
}

// traces puts stack traces together. Processors print at the same time, so where the kernel says who wrote a line, each writer has a trace
// of its own. Where another processor was asked for its stack, that writer's lines belong to the same trace.
type traces struct{ open map[string]*trace }

// openTraces bounds how many traces are put together at once.
const openTraces = 64

// begin opens a trace and returns those that are complete by that.
func (s *traces) begin(t *trace) []*trace {
	if s.open == nil {
		s.open = make(map[string]*trace)
	}
	var done []*trace
	if before := s.open[t.record.Caller]; before != nil {
		s.forget(before)
		done = append(done, before)
	} else if len(s.open) >= openTraces {
		done = s.closeAll()
	}
	s.open[t.record.Caller] = t
	return done
}

// add gives a line to the trace it belongs to, and returns the traces that are complete.
func (s *traces) add(r kmsg.Record) []*trace {
	if len(s.open) == 0 {
		return nil
	}
	done := s.closeBefore(func(t *trace) bool {
		return r.SinceBoot-t.record.SinceBoot > traceTime || r.SinceBoot < t.record.SinceBoot
	})
	t := s.open[r.Caller]
	if t == nil {
		t = s.askedOf(r)
	}
	if t != nil && t.add(r) {
		s.forget(t)
		done = append(done, t)
	}
	return done
}

// askedOf finds the trace that a processor begins to print its stack for, nil when the line is no such beginning.
func (s *traces) askedOf(r kmsg.Record) *trace {
	found := stackStart.FindStringSubmatch(r.Text)
	if found == nil || found[1] == "" || len(s.open) >= openTraces {
		return nil
	}
	var newest *trace
	for _, t := range s.open {
		if t.concerns(found[1]) && (newest == nil || t.record.Time.After(newest.record.Time)) {
			newest = t
		}
	}
	if newest != nil {
		s.open[r.Caller] = newest
	}
	return newest
}

// forget closes a trace for all who write to it.
func (s *traces) forget(t *trace) {
	maps.DeleteFunc(s.open, func(_ string, other *trace) bool { return other == t })
}

// closeAll returns all open traces, the oldest first.
func (s *traces) closeAll() []*trace { return s.closeBefore(func(*trace) bool { return true }) }

// closeBefore closes those that over says are over, the oldest first.
func (s *traces) closeBefore(over func(*trace) bool) []*trace {
	var done []*trace
	for caller, t := range s.open {
		if over(t) {
			delete(s.open, caller)
			if !slices.Contains(done, t) {
				done = append(done, t)
			}
		}
	}
	slices.SortFunc(done, func(a, b *trace) int { return a.record.Time.Compare(b.record.Time) })
	return done
}

// oldest is the open trace that began first, nil when none is open.
func (s *traces) oldest() *trace {
	var oldest *trace
	for _, t := range s.open {
		if oldest == nil || t.record.Time.Before(oldest.record.Time) {
			oldest = t
		}
	}
	return oldest
}
