package engine

import (
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine/driverlog"
)

// The kernel driver (paper, section 3.2 "RNIC Driver", causes C2 and C3). Both flaws were fixed by updates.
//
// A flawed driver does not handle a command that was given up: the thread that issued it keeps a lock and a CPU, so that the kernel
// stands still (C2). And when the card refuses to create an entry, it frees what it never got, so that the kernel crashes (C3). A fixed
// driver reports both as errors: Open vSwitch then keeps the flow in software.
const (
	// stallTime is how long the kernel stands still after a time-out that was not handled. Assumed.
	stallTime = 40 * time.Second
	// lockupAfter is when the kernel's watchdog reports a CPU that does not schedule (twice watchdog_thresh of 10 s, and some).
	lockupAfter = 26 * time.Second
	// wakeUp is how long it takes until all counters have been read again afterwards. Assumed.
	wakeUp = 5 * time.Second
	// bootTime is an assumed time from a crash or the end of a shutdown until the host works again.
	bootTime = 30 * time.Second
)

// giveUpCommands ends those that have waited too long.
func (r *RNIC) giveUpCommands(now time.Duration) {
	if r.Host.Stalled(now) || r.Host.Down(now) {
		return // nothing that could notice runs
	}
	expired := 0
	for expired < len(r.commands) && now-r.commands[expired].since > commandTimeout {
		expired++
		if !r.FixedDriver {
			break // the thread that waits for it does nothing else any more
		}
	}
	for i, c := range r.commands[:expired] {
		if i < driverlog.MaxRepeats {
			r.Host.logNow(now, r.logged().Timeout(c.kind.driverCommand(), i)...)
		}
		if c.kind == deleteEntry {
			r.deletionsQueued--
			r.remove(c.entry, now)
		} else {
			r.commandLost(c)
		}
	}
	r.dropCommands(expired)
	if expired > 0 && !r.FixedDriver {
		r.Host.stall(r, now)
	}
}

// commandLost leaves the flow of an insertion that was not done to the software datapath.
func (r *RNIC) commandLost(c command) {
	c.entry.restoring = false
	if c.kind == insertEntry {
		c.entry.state = absent
		r.Host.copyToSoftware(c.entry)
	}
}

// creationFailed is what follows when the card has refused an entry.
func (r *RNIC) creationFailed(e *Entry, now time.Duration) {
	if second := now / time.Second; second != r.failureSecond {
		r.failureSecond, r.failuresSaid = second, 0
	}
	if r.failuresSaid++; r.failuresSaid <= driverlog.MaxRepeats {
		r.Host.logNow(now, r.logged().Refusal()...)
	}
	r.commandLost(command{e, insertEntry, now})
	if !r.FixedDriver && !r.Host.crashing {
		r.Host.crash(r, now)
	}
}
