package engine

import (
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine/driverlog"
	"github.com/wallwatch/wallwatch/collectors/fleetsim/scenario"
)

// operation is what somebody does on purpose, with nothing wrong with the host or the card, or a part that breaks.
type operation struct{ scenario.Event }

// forEver is longer than any run.
const forEver = 1 << 62 * time.Nanosecond

// operate does what is due.
func (e *Engine) operate() {
	for len(e.operations) > 0 {
		next := -1
		for i, o := range e.operations {
			if e.now >= o.At.Std() {
				next = i
			}
		}
		if next < 0 {
			break
		}
		e.perform(e.operations[next])
		e.operations = append(e.operations[:next], e.operations[next+1:]...)
	}
	e.mendTransceivers()
	for _, r := range e.rnics {
		if r.PortDown() && e.now >= r.portDownUntil {
			r.portDownUntil = 0
			r.CarrierChanges++
			r.Host.logNow(e.now, r.logged().Carrier(true, r.Model.LineGbps))
		}
	}
}

func (e *Engine) perform(o operation) {
	for _, h := range e.hosts {
		if h.Name != o.Host {
			continue
		}
		if o.Operator == "reboot" {
			h.logNow(e.now, driverlog.Line{Level: driverlog.Info, Text: "systemd-shutdown[1]: Syncing filesystems and block devices."})
			h.logNow(e.now, driverlog.Line{Level: driverlog.Info, Text: "systemd-shutdown[1]: Rebooting."})
			h.logNow(e.now, driverlog.Line{Level: driverlog.Emergency, Text: "reboot: Restarting system"})
			e.goDown(h)
			continue
		}
		for _, r := range h.RNICs {
			switch {
			case r.PCI != o.RNIC:
			case o.Fault == "stray-packets":
				r.stray(o.PPS, e.now, o.For.Std())
			case o.Fault != "":
				r.corruptTransceiver(o.Loss, e.now, o.For.Std())
			default:
				r.portDownUntil = forEver
				if o.For > 0 {
					r.portDownUntil = e.now + o.For.Std()
				}
				r.CarrierChanges++
				r.Host.logNow(e.now, r.logged().Carrier(false, r.Model.LineGbps))
			}
		}
	}
}
