// Package event emits the measurement `event`: something that happened on a host at one time.
package event

import (
	"maps"
	"time"

	"github.com/influxdata/telegraf"
)

// The kinds of events that collectors emit about devices and Open vSwitch.
const (
	DeviceAppeared = "device_appeared"
	DeviceVanished = "device_vanished"
	PortUp         = "port_up"
	PortDown       = "port_down"
	OVSUnreachable = "ovs_unreachable"
	OVSReachable   = "ovs_reachable"
	// TCFiltersOrphaned: there are more filters than before that Open vSwitch has forgotten.
	TCFiltersOrphaned = "tc_filters_orphaned"
)

// resolution of the store's clock.
const resolution = time.Microsecond

// Emitter gives events of one kind and RNIC different times, as long as they are emitted in order: the store keeps one event a host, RNIC,
// kind and microsecond. Events of different kinds do not move each other, so that the same source read twice gives the same events.
type Emitter struct{ last map[subject]time.Time }

type subject struct{ kind, pci string }

// Emit adds an event. pci is "" where no RNIC is concerned; detail is one sentence.
func (e *Emitter) Emit(acc telegraf.Accumulator, at time.Time, kind, pci, detail string) {
	e.EmitFields(acc, at, kind, pci, detail, nil)
}

// EmitFields adds an event with more than a sentence; the telemetry registry has the fields.
func (e *Emitter) EmitFields(acc telegraf.Accumulator, at time.Time, kind, pci, detail string, more map[string]any) {
	if e.last == nil {
		e.last = make(map[subject]time.Time)
	}
	about := subject{kind, pci}
	if last, known := e.last[about]; known {
		// A time long before the last one is a clock that was set, not a second event of the same instant.
		if gap := at.Sub(last); gap < resolution && gap > -time.Second {
			at = last.Add(resolution)
		}
	}
	e.last[about] = at
	tags := map[string]string{"kind": kind}
	if pci != "" {
		tags["pci"] = pci
	}
	fields := map[string]any{"detail": detail}
	maps.Copy(fields, more)
	acc.AddFields("event", fields, tags, at)
}
