package kernel_events

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/influxdata/telegraf"

	"github.com/wallwatch/wallwatch/collectors/internal/kmsg"
)

// The kinds of events in addition to the classes of patterns.yaml.
const (
	HostBooted    = "host_booted"
	KernelLogLost = "kernel_log_lost"
	hostShutdown  = "host_shutdown"
	kernelPanic   = "kernel_panic"
)

// occurrence is something that the log says happened.
type occurrence struct {
	at             time.Time
	kind, pattern  string
	device, detail string
	fields         map[string]any
}

// output turns the records of one log into events.
type output struct {
	acc     telegraf.Accumulator
	plugin  *Plugin
	limiter *limiter
	traces  *traces
	origin  string
}

// record deals with one line.
func (o *output) record(r kmsg.Record) {
	for _, t := range o.traces.add(r) {
		o.trace(t)
	}
	o.plugin.pids.note(r)
	found := o.plugin.table.find(r)
	switch {
	case found == nil:
	case found.Trace:
		for _, t := range o.traces.begin(newTrace(found, r, o.plugin.log.Position())) {
			o.trace(t)
		}
	default:
		o.line(found, r)
	}
}

// line deals with a line that says everything.
func (o *output) line(found *match, r kmsg.Record) {
	switch found.Class {
	case kernelPanic:
		// Nothing will follow.
		o.finishTraces()
	case hostShutdown:
		if o.origin == "kmsg" {
			at := r.Time
			o.plugin.state.ShutdownAt = &at
		}
	}
	fields := map[string]any{}
	if command := found.groups["command"]; command != "" {
		fields["command"] = command
	}
	if severity := found.groups["severity"]; severity != "" {
		fields["severity"] = severityOf(severity)
	}
	device := found.groups["device"]
	if netdev := found.groups["netdev"]; netdev != "" {
		device = o.plugin.topology.named(netdev)
	}
	if device == "" {
		device = deviceOf(r)
	}
	o.occurred(found.pattern, r, device, r.Text, fields)
}

// severityOf gives the kernel's wordings, which changed, one name each.
func severityOf(text string) string {
	switch {
	case strings.Contains(text, "(Non-Fatal)"):
		return "non_fatal"
	case strings.Contains(text, "(Fatal)"):
		return "fatal"
	default:
		return "corrected"
	}
}

// trace deals with a line and the stack trace that followed it.
func (o *output) trace(t *trace) {
	fields := map[string]any{}
	put := func(name, value string) {
		if value != "" {
			fields[name] = value
		}
	}
	driver, function := t.driver()
	put("driver", driver)
	put("function", function)
	put("frames", t.names())
	put("task", t.task)
	for _, f := range t.frames {
		if o.plugin.table.flowCreation.MatchString(f.function) {
			fields["operation"] = "flow_creation"
		}
	}
	detail := t.record.Text
	if driver != "" {
		detail = fmt.Sprintf("%s; the stack runs through %s of %s", detail, function, driver)
	}
	o.occurred(t.head.pattern, t.record, o.deviceOf(t, driver), detail, fields)
}

// deviceOf finds the RNIC of a trace: it says it itself, or the same process was named along with an RNIC shortly before, or the host has
// only one that the driver could mean.
func (o *output) deviceOf(t *trace, driver string) string {
	switch {
	case driver == "":
		return ""
	case t.device != "":
		return t.device
	}
	if device := o.plugin.pids.device(t.pid, t.record.SinceBoot); device != "" {
		return device
	}
	return o.plugin.topology.only(driver)
}

// settle closes traces that the kernel has long printed, and reports what finished windows left out.
func (o *output) settle(now time.Time) {
	for _, t := range o.traces.closeBefore(func(t *trace) bool { return now.Sub(t.record.Time) > traceTime }) {
		o.trace(t)
	}
	for _, s := range o.limiter.expire(now) {
		o.summary(s)
	}
}

func (o *output) finishTraces() {
	for _, t := range o.traces.closeAll() {
		o.trace(t)
	}
}

// finish ends a log that nothing will be added to.
func (o *output) finish() {
	o.finishTraces()
	for _, w := range o.limiter.windows {
		if s := w.summary(); s != nil {
			o.summary(s)
		}
	}
}

// ofRNIC are lines of drivers that only RNICs have; others may be about any PCI device of the host.
var ofRNIC = regexp.MustCompile(`^(?:mlx5_core|ice|irdma|bnxt_en) `)

// longestDetail bounds what one line can make of an event.
const longestDetail = 400

func (o *output) occurred(p *pattern, r kmsg.Record, device, detail string, fields map[string]any) {
	device = strings.ToLower(device)
	if _, known := o.plugin.topology.rnics(device); device != "" && !known && !ofRNIC.MatchString(r.Text) {
		if !p.Trace {
			return
		}
		device = "" // The stack is of interest whatever else it names.
	}
	fields["pattern"], fields["origin"] = p.ID, o.origin
	if o.origin == "kmsg" {
		fields["sequence"] = int64(r.Sequence & (1<<63 - 1)) //nolint:gosec // masked to what fits
	}
	if runes := []rune(detail); len(runes) > longestDetail {
		detail = string(runes[:longestDetail]) + "…"
	}
	happened := occurrence{at: r.Time, kind: p.Class, pattern: p.ID, device: device, detail: detail, fields: fields}
	pass, before := o.limiter.pass(happened)
	if before != nil {
		o.summary(before)
	}
	if pass {
		o.emit(happened)
	}
}

func (o *output) summary(s *summary) {
	s.fields["left_out"] = int64(s.leftOut)
	s.detail = fmt.Sprintf("%d more like this were left out: %s", s.leftOut, s.detail)
	o.emit(s.occurrence)
}

// emit adds one event for each RNIC that the occurrence concerns.
func (o *output) emit(happened occurrence) {
	owners := []string{""}
	if happened.device != "" {
		owners, _ = o.plugin.topology.rnics(happened.device)
	}
	for _, pci := range owners {
		if happened.device != pci {
			happened.fields["device"] = happened.device
		}
		o.plugin.events.EmitFields(o.acc, happened.at, happened.kind, pci, happened.detail, happened.fields)
	}
}
