package engine

import (
	"slices"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/flowkey"
)

// Which entry has the packets, where somebody added flows for packets that Open vSwitch has a flow of its own for.

// cover lets an entry that somebody added have the packets of one of Open vSwitch's.
func (e *Entry) cover(own *Entry) {
	e.manual.covers = append(e.manual.covers, own)
	own.covered = append(own.covered, e)
	bits := e.rnic.bitsOf(own)
	e.manual.wide = e.manual.wide || !bits.Within(&e.manual.key.Mask)
}

// judgeActions compares the actions with those of the packets that the entry gets.
func (e *Entry) judgeActions() {
	e.manual.wrong = false
	for _, own := range e.manual.covers {
		e.manual.wrong = e.manual.wrong || e.rnic.Host.mustRead(own.actionText()) != e.manual.actions
	}
}

// release undoes an entry that somebody added; nothing happens to others.
func (e *Entry) release() {
	if e.manual == nil {
		return
	}
	for _, own := range e.manual.covers {
		own.covered = slices.DeleteFunc(own.covered, func(one *Entry) bool { return one == e })
	}
	e.manual.covers = nil
	h := e.rnic.Host
	delete(e.rnic.manual[e.dir].flows, e.manual.key)
	if h.byUFID[e.manual.ufid] == e {
		delete(h.byUFID, e.manual.ufid)
	}
}

// join lets a new connection meet what was added before.
func (r *RNIC) join(own *Entry) {
	if r.manual[own.dir] == nil {
		return
	}
	seen := r.manual[own.dir]
	for _, masks := range []map[flowkey.Words]int{seen.masks, seen.own} {
		for mask := range masks {
			if made := seen.flows[flowkey.Key{Value: own.packet().And(&mask), Mask: mask}]; made != nil {
				made.cover(own)
				made.judgeActions()
			}
		}
	}
}

// forget takes a connection that is over from the flows that had its packets.
func (e *Entry) forget() {
	if e == nil {
		return
	}
	for _, made := range e.covered {
		made.manual.covers = slices.DeleteFunc(made.manual.covers, func(one *Entry) bool { return one == e })
	}
	e.covered = nil
	if h := e.rnic.Host; e.head != nil && h.byUFID[e.ufid()] == e {
		delete(h.byUFID, e.ufid())
	}
}

// forwarder is the entry of the card that has the packets: that whose mask stands ahead. It is nil when the card has none.
func (e *Entry) forwarder() *Entry {
	var first *Entry
	if e.inHardware() {
		first = e
	}
	for _, made := range e.covered {
		if made.inHardware() && (first == nil || made.group.Position < first.group.Position) {
			first = made
		}
	}
	return first
}

// served reports whether the card forwards the packets, by whatever entry.
func (e *Entry) served() bool { return e.inHardware() || (len(e.covered) > 0 && e.forwarder() != nil) }

// misled reports whether the card does something else with the packets than it should.
func (e *Entry) misled() bool {
	if e == nil || (len(e.covered) == 0 && !e.misdirected) {
		return false
	}
	f := e.forwarder()
	return f != nil && (f.misdirected || (f.manual != nil && f.manual.wrong))
}
