package engine

import (
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine/driverlog"
	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine/maskchain"
)

// The firmware's command queue (paper, section 3.2 "RNIC Driver" and section 4.2 "Flow State Maintenance").
//
// Insertions and deletions wait in one queue and are worked off one by one. A deletion searches the table for flows that depend on
// the deleted one, so it takes longer the more entries there are (C4). A command that waits too long is given up by the driver.
// What the driver does then is in driver.go (C2).
const (
	reservedForCommands = 0.3 // share of the interface that insertions and deletions keep while the scan is behind. Assumed
	// upcallLatency is an assumed time from a miss to the request for an entry.
	upcallLatency = 300 * time.Microsecond
	// commandTimeout is when the driver gives a command up. Linux waits for 60 s; this is shorter so that it can be seen in minutes.
	commandTimeout = 10 * time.Second
)

type commandKind int

const (
	insertEntry commandKind = iota
	deleteEntry
	restoreEntry // of a flow that the kernel had taken out of the hardware (flowtable.go)
)

// driverCommand is its name in the driver's messages.
func (k commandKind) driverCommand() driverlog.Command {
	if k == deleteEntry {
		return driverlog.DeleteFlowTableEntry
	}
	return driverlog.SetFlowTableEntry
}

type command struct {
	entry *Entry
	kind  commandKind
	since time.Duration
}

func (r *RNIC) submit(e *Entry, kind commandKind, now time.Duration) {
	switch kind {
	case insertEntry:
		e.state = inserting
	case deleteEntry:
		e.state = deleting
		r.deletionsQueued++
	case restoreEntry:
		e.restoring = true
	}
	r.commands = append(r.commands, command{e, kind, now})
}

// runFirmware lets the interface work for dt. What one side does not need, the other may use.
func (r *RNIC) runFirmware(now, dt time.Duration) {
	if r.silent() {
		r.giveUpCommands(now)
		return
	}
	reserve := time.Duration(float64(dt)*reservedForCommands) - r.payManualDebt(time.Duration(float64(dt)*reservedForCommands))
	spare := r.runCommands(reserve+r.commandDebt, now)
	r.commandDebt = min(spare, 0)
	left := r.scanCounters(dt-reserve+max(spare, 0)+r.scanDebt, now)
	r.scanDebt = min(left, 0)
	r.scanBehind = left <= 0
	left -= r.payManualDebt(max(left, 0))
	if left > 0 {
		r.commandDebt += min(r.runCommands(left, now), 0)
	}
	r.giveUpCommands(now)
}

// payManualDebt works off what was done by hand, within a budget, and returns what it took.
func (r *RNIC) payManualDebt(budget time.Duration) time.Duration {
	paid := min(budget, -r.manualDebt)
	r.manualDebt += paid
	return paid
}

// deletionTime is what a deletion takes: the search for dependent flows grows with the table (C4).
func (r *RNIC) deletionTime() time.Duration {
	return r.Model.Costs.Delete + time.Duration(len(r.entries))*r.Model.Costs.Search
}

// commandDelay is how long an insertion that is requested now will take: an upcall, the queue before it, and its share of the interface.
func (r *RNIC) commandDelay() time.Duration {
	insertions := len(r.commands) - r.deletionsQueued
	queue := -r.manualDebt + time.Duration(insertions)*r.Model.Costs.Insert + time.Duration(r.deletionsQueued)*r.deletionTime()
	if r.scanBehind {
		queue = time.Duration(float64(queue) / reservedForCommands)
	}
	return r.Host.processor.Stretch(upcallLatency) + r.Model.Costs.Insert + queue
}

// runCommands works off the queue and returns what is left of the budget; below zero if the last command ran over.
func (r *RNIC) runCommands(budget time.Duration, now time.Duration) time.Duration {
	done := 0
	for ; done < len(r.commands) && budget > 0 && !r.silent(); done++ {
		c := r.commands[done]
		switch c.kind {
		case insertEntry:
			budget -= r.Model.Costs.Insert
			r.install(c.entry, now)
		case restoreEntry:
			budget -= r.Model.Costs.Insert
			c.entry.restore(now)
		case deleteEntry:
			budget -= r.deletionTime()
			r.deletionsQueued--
			r.remove(c.entry, now)
		}
	}
	r.dropCommands(done)
	return budget
}

func (r *RNIC) dropCommands(first int) { r.commands = append(r.commands[:0], r.commands[first:]...) }

func (r *RNIC) install(e *Entry, now time.Duration) {
	if e.conn.ended { // its sender stopped while the insertion waited; no packet will ask for it
		e.state = absent
		return
	}
	if !r.hasRoomFor(e) {
		r.creationFailed(e, now)
		return
	}
	if !r.takeContext(e, now) {
		r.commandLost(command{e, insertEntry, now})
		return
	}
	e.state = installed
	e.group = r.chains[e.dir].Join(e.mask)
	e.index = len(r.entries)
	r.entries = append(r.entries, e)
	e.hwPackets, e.hwBytes, e.seenPackets, e.seenBytes = 0, 0, 0, 0
	e.suspended, e.restoring = false, false
	e.lastUsed = now
	r.takeCounter(e)
	r.observer.FlowInstalled(e, now)
	r.addToIndex(e, now)
}

func (r *RNIC) remove(e *Entry, now time.Duration) {
	r.chains[e.dir].Leave(e.group, now)
	e.release()
	r.releaseContext(e)
	r.removeFromIndex(e)
	e.state, e.group, e.suspended, e.restoring = absent, nil, false, false
	r.counters[e.counter] = nil
	r.freeCounters = append(r.freeCounters, e.counter)
	last := r.entries[len(r.entries)-1]
	r.entries[e.index], last.index = last, e.index
	r.entries = r.entries[:len(r.entries)-1]
}

// reset empties the card, as a reload of its driver does.
func (r *RNIC) reset() {
	for _, c := range r.commands {
		c.entry.state, c.entry.restoring = absent, false
	}
	for _, e := range r.entries {
		e.state, e.group, e.suspended, e.restoring = absent, nil, false, false
	}
	for _, masks := range r.manual {
		if masks != nil {
			for _, made := range masks.flows {
				made.release()
			}
		}
	}
	clear(r.entries)
	r.index = nil
	clear(r.counters)
	r.commands, r.entries, r.counters, r.freeCounters = r.commands[:0], r.entries[:0], r.counters[:0], r.freeCounters[:0]
	r.chains = [2]*maskchain.Chain{maskchain.New(), maskchain.New()}
	r.contexts = map[context]int{}
	r.deletionsQueued, r.cursor, r.commandDebt, r.manualDebt, r.scanDebt, r.scanBehind = 0, 0, 0, 0, 0, false
	r.wedgedAt = 0
}

// hasRoomFor reports whether the card has memory for an entry's hash table, which grows if it must.
func (r *RNIC) hasRoomFor(e *Entry) bool {
	used := r.chains[Egress].Slots() + r.chains[Ingress].Slots()
	return r.chains[e.dir].Reserve(e.mask, r.Model.Costs.TableSlots-used)
}
