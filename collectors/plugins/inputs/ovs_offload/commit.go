package ovs_offload

import "time"

// commit takes over a complete dump and works out what changed on each RNIC since the one before. It returns the time
// between the two, 0 for the first: then there are populations but no changes.
func (t *tracker) commit() time.Duration {
	for _, r := range t.rnics {
		r.begin()
	}
	elapsed := t.elapsed()
	t.implausible, t.ownerless = implausible{}, 0
	for ufid, g := range t.graves {
		if t.reading.Sub(g.gone) >= window {
			delete(t.graves, ufid)
		}
	}
	t.flows.each(func(slot int, f *flow) {
		if !f.seen {
			t.bury(f, f.now)
			t.flows.remove(slot)
			return
		}
		t.advance(f, elapsed > 0)
		if longest, known := f.gaps.known(t.sinceStart(t.reading)); known && f.owner != nil && f.now.hardware() {
			f.owner.change.gaps.add(longest)
		}
	})
	for ufid, g := range t.graves {
		if _, present := t.flows.index[ufid]; !present { // neither in the RNIC nor in software: no packet came
			g.absences++
			t.graves[ufid] = g
		}
	}
	for hash, known := range t.tunnels {
		if known.dump != t.dump {
			delete(t.tunnels, hash)
		}
	}
	for _, r := range t.rnics {
		r.population.contexts = len(r.contexts)
		for side := range r.chains {
			r.chains[side].settle(t.reading, t.linger)
		}
		if elapsed > 0 {
			r.recent.push(interval{at: t.reading, length: elapsed, insertions: r.change.insertions, returns: r.change.returns, lags: r.change.lags})
		}
	}
	t.last = t.reading
	return elapsed
}

// begin makes room for what another dump shows, and notes what the last minute says of flows that come back.
func (r *rnicState) begin() {
	lately := r.recent.sum()
	r.queue = 0
	if overdue := r.population.overdue; r.change.deletions > 0 && float64(overdue) >= manyOverdue*float64(r.population.offloaded) {
		r.queue = lately.interval * time.Duration(overdue) / time.Duration(r.change.deletions)
	}
	r.returnsAreLive = lately.returns.nearlyAllLive(lately.interval)
	r.change = change{gaps: &histogram{}, lags: &histogram{}, backlog: r.population.overdue}
	r.population = population{}
	clear(r.contexts)
	for side := range r.chains {
		for _, m := range r.chains[side].masks {
			m.flows = 0
		}
	}
}

// bury records that the RNIC lost a flow.
func (t *tracker) bury(f *flow, last reading) {
	if f.owner == nil || !last.inRNIC() {
		return
	}
	f.owner.change.deletions++
	t.lag(f, last)
	t.deletionEvents(f, last)
	t.graves[f.ufid] = grave{owner: f.owner, usedAt: t.activeUntil(f, last), longestGaps: f.gaps,
		steady: f.isSteady(last, t.sinceStart(t.last)), seen: t.last, gone: t.reading}
}

// activeUntil is when a flow was last seen to have packets: when its counter moved, or else when its entry was made.
func (t *tracker) activeUntil(f *flow, last reading) int64 {
	if last.usedAt == neverUsed {
		return f.entry.after
	}
	return last.usedAt
}

// advance moves one flow from the dump before to this one. compare is false for the first dump.
func (t *tracker) advance(f *flow, compare bool) {
	before := f.now
	after, credible := t.credible(f)
	wasKnown, wasReplaced, hasCopy := f.known, f.replaced, f.copied
	f.now, f.next = after, reading{}
	f.known, f.seen, f.replaced, f.copied = true, false, false, false
	if !wasKnown {
		f.entry = entry{after: t.sinceStart(t.last), seen: t.sinceStart(t.reading), packets: after.packets}
	}
	if !after.hardware() {
		// The mask may leave the chain while the flow is in software.
		f.mask = nil
	}
	if f.owner == nil {
		if after.inRNIC() {
			t.ownerless++
		}
		return
	}
	t.count(f)
	if !compare {
		return
	}
	restarted := wasKnown && (wasReplaced || after.packets < before.packets)
	packets := after.packets
	if !wasKnown || restarted {
		t.begins(f, before, restarted)
	} else {
		packets = after.packets - before.packets
		t.offloadEvents(f, before)
		t.transition(f, before)
	}
	packets = f.counted(packets, credible)
	if !f.recirculates { // its packets are those of the flows that they go on to
		f.owner.change.packets += packets
	}
	if hasCopy && wasKnown {
		t.countCopy(f, copyGrowth(before, after), before.hardware() && !restarted)
	}
	f.countQueries(packets)
}

// begins notes a flow that the dump before did not have, or whose counter began again: it was deleted and offloaded again between the two.
func (t *tracker) begins(f *flow, before reading, again bool) {
	if again {
		t.bury(f, before)
	}
	t.offloadEvents(f, reading{})
	if f.now.inRNIC() {
		t.insert(f)
	}
}

// countCopy adds the packets that software handled although the flow is offloaded. throughout is false for a flow that the RNIC got or lost
// since the dump before: what software handled until then was for want of an entry.
func (t *tracker) countCopy(f *flow, packets uint64, throughout bool) {
	if !t.isPlausible(packets) {
		t.implausible.note(f, packets)
		f.now.copyPackets -= packets
		return
	}
	f.owner.change.copyPackets += packets
	if packets > 0 && throughout {
		t.events.add(softwareHit, f, "Software handled packets of the flow.")
	}
}

// countQueries adds what the packets of an offloaded flow have to do with its mask, and with the peer's.
func (f *flow) countQueries(packets uint64) {
	if f.mask == nil || !f.now.hardware() {
		return
	}
	f.mask.packets += packets
	stage := &f.owner.change.last
	if f.recirculates {
		stage = &f.owner.change.passing
	}
	stage[f.side].add(packets, f.mask.position)
	if f.side == egress && f.encaps != nil {
		f.owner.peers.sent(f.encaps.peer, packets)
	}
	if f.side == ingress {
		f.owner.peers.came(f.source, packets, f.mask.position, f.recirculates)
	}
}

func (t *tracker) transition(f *flow, before reading) {
	switch {
	case before.inRNIC() && f.now.inRNIC():
		// Packets of a partly offloaded flow are counted by software.
		if before.hardware() && f.now.hardware() {
			t.gap(f, before)
		}
	case before.inRNIC():
		t.bury(f, before)
	case f.now.inRNIC():
		t.insert(f)
	}
}

// copyGrowth is how many packets the software copy of an offloaded flow has counted since the dump before.
func copyGrowth(before, after reading) uint64 {
	base := before.copyPackets
	if !before.hardware() {
		// The flow was in software only, so its own counter is the copy's.
		base = before.packets
	}
	if after.copyPackets < base {
		return after.copyPackets
	}
	return after.copyPackets - base
}

// insert records that the RNIC got a flow, which may be one that it lost within the last minute.
func (t *tracker) insert(f *flow) {
	r := &f.owner.change
	r.insertions++
	f.stood = false
	f.entry = entry{after: t.sinceStart(t.last), seen: t.sinceStart(t.last)}
	g, lost := t.graves[f.ufid]
	if !lost {
		return
	}
	delete(t.graves, f.ufid)
	f.gaps = g.longestGaps
	t.noteReturn(f, g)
}

// noteReturn counts a flow that is offloaded again by what is known of its traffic while it had no entry.
func (t *tracker) noteReturn(f *flow, g grave) {
	r, stood, idle := &f.owner.change.returns, t.sinceStart(g.seen)-g.usedAt, t.sinceStart(g.gone)-g.usedAt-t.leastMaxIdle().Milliseconds()
	r.total++
	certain := idle < 0
	switch {
	case certain:
		r.inUse++
	case !g.steady:
		return // a packet now and then: between two of them the flow was idle, whatever its counter says
	case g.absences == 0 && idle < soonest.Milliseconds():
		r.inUse++ // by chance only, one flow in some tens, after a rest
	case f.owner.queue > 0 && time.Duration(g.absences)*t.elapsed() <= f.owner.queue:
		r.inUse++
	case g.absences == 0:
		r.atOnce++
	default:
		if g.absences == 1 {
			r.afterOne++
		} else {
			r.later++
		}
		return
	}
	if stood >= t.maxIdle.Milliseconds()/2 {
		r.stale++
	}
	if certain || f.owner.returnsAreLive {
		f.gaps.add(stood, t.sinceStart(t.last))
		t.events.add(flowReturned, f, "The entry had been deleted while packets of the flow still came.")
	}
}

// gap records the time between two moves of a flow's counter. Between two dumps a counter may have moved several times,
// so the age that the dump before showed is taken, a lower bound; a counter that stood still over a whole interval
// between dumps gives the time exactly. Only times within the life of one entry count: while a flow has none, no counter can move.
func (t *tracker) gap(f *flow, before reading) {
	if f.now.packets == before.packets {
		f.stood = true
		return
	}
	stood := f.stood
	f.stood = false
	if before.usedAt == neverUsed || f.now.usedAt == neverUsed {
		return
	}
	end := t.sinceStart(t.last)
	if stood {
		end = f.now.usedAt
	}
	if end >= before.usedAt {
		f.gaps.add(end-before.usedAt, t.sinceStart(t.reading))
	}
}

// count adds a flow to the population of its RNIC.
func (t *tracker) count(f *flow) {
	p := &f.owner.population
	switch {
	case f.now.hardware():
		p.offloaded++
		p.bySide[f.side]++
		if f.mask != nil {
			f.mask.flows++
		}
		if f.encaps != nil {
			for _, context := range f.encaps.contexts {
				f.owner.contexts[context] = struct{}{}
			}
		}
	case f.now.inRNIC():
		p.partial++
	default:
		p.software++
		if f.now.handedOver {
			p.tcSoftware++
		}
	}
	if f.now.inRNIC() && f.now.usedAt != neverUsed {
		if late := t.sinceStart(t.reading) - f.now.usedAt - t.maxIdle.Milliseconds(); late > sweeps*t.sweep.Milliseconds() {
			p.overdue++
			f.owner.change.lags.maxMS = max(f.owner.change.lags.maxMS, late)
		}
	}
}

// sweeps of the revalidator that a flow may survive after it has aged: it may age just after one looked at it, and the dump
// may come before the next has finished.
const sweeps = 2

// lag records for how long the entry of an aged flow was still seen (symptom S4). The dumps before and after the deletion
// bound it; this is the lower bound.
func (t *tracker) lag(f *flow, last reading) {
	if last.usedAt == neverUsed {
		return
	}
	due := last.usedAt + t.maxIdle.Milliseconds()
	if t.sinceStart(t.reading) >= due {
		f.owner.change.lags.add(max(0, t.sinceStart(t.last)-due))
	}
}
