package engine

import (
	"slices"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/flowkey"
)

// Which entry has the packets, where somebody added flows for packets that Open vSwitch has a flow of its own for.

// cover lets an entry that somebody added have the packets of one of Open vSwitch's.
func (e *Entry) cover(own *Entry) {
	e.handmade.covers = append(e.handmade.covers, own)
	own.covered = append(own.covered, e)
	bits := e.rnic.bitsOf(own)
	e.handmade.wide = e.handmade.wide || !bits.Within(&e.handmade.key.Mask)
}

// judgeActions compares the actions with those of the packets that the entry gets.
func (e *Entry) judgeActions() {
	e.handmade.wrong = false
	for _, own := range e.handmade.covers {
		e.handmade.wrong = e.handmade.wrong || e.rnic.Host.mustRead(own.actionText()) != e.handmade.actions
	}
}

// release undoes an entry that somebody added; nothing happens to others.
func (e *Entry) release() {
	if e.handmade == nil {
		return
	}
	for _, own := range e.handmade.covers {
		own.covered = slices.DeleteFunc(own.covered, func(one *Entry) bool { return one == e })
	}
	e.handmade.covers = nil
	h := e.rnic.Host
	delete(e.rnic.byHand[e.dir].flows, e.handmade.key)
	if h.byUFID[e.handmade.ufid] == e {
		delete(h.byUFID, e.handmade.ufid)
	}
}

// join lets a new connection meet what was added before.
func (r *RNIC) join(own *Entry) {
	if r.byHand[own.dir] == nil {
		return
	}
	seen := r.byHand[own.dir]
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
		made.handmade.covers = slices.DeleteFunc(made.handmade.covers, func(one *Entry) bool { return one == e })
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
		if made.inHardware() && (first == nil || made.group.position < first.group.position) {
			first = made
		}
	}
	return first
}

// served tells whether the card forwards the packets, by whatever entry.
func (e *Entry) served() bool { return e.inHardware() || (len(e.covered) > 0 && e.forwarder() != nil) }

// misled tells whether the card does something else with the packets than it should.
func (e *Entry) misled() bool {
	if e == nil || (len(e.covered) == 0 && !e.misdirected) {
		return false
	}
	f := e.forwarder()
	return f != nil && (f.misdirected || (f.handmade != nil && f.handmade.wrong))
}
