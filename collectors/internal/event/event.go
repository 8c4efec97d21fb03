// Package event emits the measurement `event`: something that happened on a host at one time.
package event

import (
	"time"

	"github.com/influxdata/telegraf"
)

// The kinds of events that collectors emit.
const (
	DeviceAppeared = "device_appeared"
	DeviceVanished = "device_vanished"
	PortUp         = "port_up"
	PortDown       = "port_down"
	OVSUnreachable = "ovs_unreachable"
	OVSReachable   = "ovs_reachable"
)

// Emitter gives every event of one collector its own time: the store keeps one event a host and time.
type Emitter struct{ last time.Time }

// Emit adds an event. pci is "" where no RNIC is concerned; detail is one sentence.
func (e *Emitter) Emit(acc telegraf.Accumulator, at time.Time, kind, pci, detail string) {
	if !at.After(e.last) {
		at = e.last.Add(time.Nanosecond)
	}
	e.last = at
	tags := map[string]string{"kind": kind}
	if pci != "" {
		tags["pci"] = pci
	}
	acc.AddFields("event", map[string]any{"detail": detail}, tags, at)
}
