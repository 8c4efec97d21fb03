package engine

import (
	"fmt"
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine/driverlog"
)

// Message is one record of a host's kernel log.
type Message struct {
	Boot      int           // number of the boot, from 1; a greater one than before means that the host has started again
	SinceBoot time.Duration // as the kernel stamps it
	Level     int           // 0 (emergency) to 7 (debug)
	Text      string
	Panic     bool // the kernel died with it, so it is in the persistent store after the next boot
}

func (h *Host) log(sinceBoot time.Duration, line driverlog.Line) {
	h.Messages = append(h.Messages, Message{Boot: h.boot, SinceBoot: sinceBoot, Level: line.Level, Text: line.Text})
}

// bootOffset is how long a host had been up when it booted, in the simulator's view: what it logs at boot takes some seconds.
const bootOffset = 5 * time.Second

func (h *Host) logNow(now time.Duration, lines ...driverlog.Line) {
	for _, line := range lines {
		h.log(now-h.bootedAt+bootOffset, line)
	}
}

func (r *RNIC) logged() driverlog.Card {
	return driverlog.Card{Driver: r.Model.Driver, PCI: r.PCI, Netdev: r.Netdev}
}

// logPort writes a message of the PCIe port above the card.
func (r *RNIC) logPort(now time.Duration, level int, text string) {
	r.Host.logNow(now, driverlog.Line{Level: level, Text: fmt.Sprintf("pcieport 0000:%02x:00.0: %s", r.bus()-1, text)})
}

func (r *RNIC) logBoot() {
	boot := r.logged().Boot(r.Index, r.Firmware(), len(r.VFs))
	for _, after := range []time.Duration{2 * time.Second, 3 * time.Second} {
		r.Host.log(after, boot[after])
	}
}

// logOops writes the last messages of a kernel that a driver crashed.
func (h *Host) logOops(r *RNIC, now time.Duration) {
	first := len(h.Messages)
	h.logNow(now, r.logged().Oops()...)
	for i := range h.Messages[first:] {
		h.Messages[first+i].Panic = true
	}
}
