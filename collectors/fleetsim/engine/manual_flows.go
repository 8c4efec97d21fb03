package engine

import (
	"errors"
	"slices"
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine/flowactions"
	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine/maskchain"
	"github.com/wallwatch/wallwatch/collectors/fleetsim/flowkey"
)

// Flows that somebody adds, changes or deletes by hand: "dpctl/add-flow", "dpctl/mod-flow" and "dpctl/del-flow". To the card they are entries
// like all others: a mask that is new to it takes its place at the end of the chain, an entry occupies a counter and a place of a hash
// table, and each operation takes the time of the firmware's interface. What is different:
//
//   - An operation is done when it is answered, as the system call of a real switch; insertions that packets ask for wait for as long as it took.
//   - A flow may match packets that Open vSwitch has a flow of its own for. The mask that stands ahead in the chain has them (C6).
//   - A mask without flows gives up its place when its last flow is deleted by hand, or when one is added by hand: flows that are added again come
//     to the end of the chain. Open vSwitch's own flows that age and come back find the place that was kept (chain.go). That a card makes
//     this difference is an assumption.
//   - Open vSwitch's next round of revalidation (revalidator.go) keeps a flow that is more specific than what it would install, deletes one that
//     is less specific, and puts actions right that are wrong. Idle ones leave after max-idle.

// What the datapath says about a flow.
var (
	ErrFlowExists = errors.New("File exists")               //nolint:staticcheck // the kernel's words
	ErrNoFlow     = errors.New("No such file or directory") //nolint:staticcheck // the kernel's words
)

// manualFlow is what an entry has in addition when somebody added it by hand.
type manualFlow struct {
	ufid    string
	key     flowkey.Key
	actions string
	covers  []*Entry // of Open vSwitch, for the same packets
	wrong   bool     // its actions are not those of the packets that it covers
	wide    bool     // it matches more than Open vSwitch's own flow would
}

// manualFlows are those of a card in one direction.
type manualFlows struct {
	flows map[flowkey.Key]*Entry
	masks map[flowkey.Words]int // numbers of masks that Open vSwitch does not make
	own   map[flowkey.Words]int // numbers of those that it does
	bits  map[int]flowkey.Words // the opposite of own
}

// firstForeignMask is above all numbers of masks that Open vSwitch makes.
const firstForeignMask = 1 << 20

func (r *RNIC) manualFlowsOf(d Direction) *manualFlows {
	if r.manual[d] == nil {
		r.manual[d] = &manualFlows{flows: map[flowkey.Key]*Entry{}, masks: map[flowkey.Words]int{}, own: map[flowkey.Words]int{}, bits: map[int]flowkey.Words{}}
	}
	return r.manual[d]
}

// AddFlow is "dpctl/add-flow": ufid is empty where none was given.
func (e *Engine) AddFlow(h *Host, ufid, match, actions string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	key, err := h.readKey(match)
	if err != nil {
		return err
	}
	todo, err := flowactions.Canonical(actions)
	if err != nil {
		return err
	}
	r, d := h.cardOf(key, todo)
	if r.silent() {
		return errors.New("Connection timed out") //nolint:staticcheck // the kernel's words
	}
	if own := e.ownFlow(r, d, key); own != nil {
		if own.state == deleting {
			r.finishDeletion(own, e.now)
		}
		if own.state != absent || own.copy != nil || own.unnoticed {
			return ErrFlowExists
		}
		r.observer.FlowAddedByHand(own)
		h.put(r, own, e.now)
		return nil
	}
	if made := r.manualFlowsOf(d).flows[key]; made != nil || (ufid != "" && h.flowOf(ufid) != nil) {
		return ErrFlowExists
	}
	made := e.newManualFlow(r, d, key, todo, ufid)
	h.put(r, made, e.now)
	return nil
}

// put installs an entry at once, and lets the interface work for it afterwards.
func (h *Host) put(r *RNIC, entry *Entry, now time.Duration) {
	h.Switch.Inserted++
	if !entry.mayOffload() {
		h.copyToSoftware(entry)
		return
	}
	if g := r.chains[entry.dir].Group(entry.mask); g != nil && g.Entries == 0 {
		r.chains[entry.dir].Free(g)
	}
	r.install(entry, now)
	r.manualDebt -= r.Model.Costs.Insert
}

// ModifyFlow is "dpctl/mod-flow".
func (e *Engine) ModifyFlow(h *Host, ufid, match, actions string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	todo, err := flowactions.Canonical(actions)
	if err != nil {
		return err
	}
	entry, err := e.find(h, ufid, match)
	if err != nil {
		return err
	}
	if entry.manual != nil {
		entry.manual.actions, entry.head = todo, nil
		entry.judgeActions()
		return nil
	}
	if todo != h.mustRead(entry.actionText()) {
		entry.misdirected = true // until the next round puts it right
		entry.rnic.misdirected = append(entry.rnic.misdirected, entry)
	}
	return nil
}

// DeleteFlow is "dpctl/del-flow": a flow is named by its ufid or its match.
func (e *Engine) DeleteFlow(h *Host, ufid, match string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	entry, err := e.find(h, ufid, match)
	if err != nil {
		return err
	}
	h.Switch.Deleted++
	if entry.state != installed { // only software has it
		entry.copy = nil
		h.copies = slices.DeleteFunc(h.copies, func(one *Entry) bool { return one == entry })
		entry.release()
		return nil
	}
	r, g := entry.rnic, entry.group
	r.manualDebt -= r.deletionTime()
	r.remove(entry, e.now)
	r.finishDeletions(g, e.now)
	if g.Entries == 0 {
		r.chains[entry.dir].Free(g)
	}
	return nil
}

// find is the flow that a dump would show.
func (e *Engine) find(h *Host, ufid, match string) (*Entry, error) {
	var entry *Entry
	if ufid != "" {
		entry = h.flowOf(ufid)
	} else {
		key, err := h.readKey(match)
		if err != nil {
			return nil, err
		}
		for _, r := range h.RNICs {
			for d := range r.chains {
				if found := e.ownFlow(r, Direction(d), key); found != nil {
					entry = found
				} else if found := r.manualFlowsOf(Direction(d)).flows[key]; found != nil {
					entry = found
				}
			}
		}
	}
	if entry == nil || entry.state != installed && entry.copy == nil {
		return nil, ErrNoFlow
	}
	return entry, nil
}

// flowOf finds a flow of the dump by its ufid.
func (h *Host) flowOf(ufid string) *Entry {
	entry := h.byUFID[ufid]
	if entry == nil || entry.state != installed && entry.copy == nil { // nobody has dumped it since it came
		for _, r := range h.RNICs {
			for _, one := range r.entries {
				if one.state == installed && one.head == nil {
					one.render()
				}
			}
		}
		entry = h.byUFID[ufid]
	}
	return entry
}

// ownFlow is the flow with this key that Open vSwitch makes, whether it is there or not; nil when it makes none.
func (e *Engine) ownFlow(r *RNIC, d Direction, key flowkey.Key) *Entry {
	number, known := r.manualFlowsOf(d).own[key.Mask]
	if !known {
		return e.learnMask(r, d, key)
	}
	for _, own := range e.sides(r, d) {
		if own.mask == number && key.Matches(own.packet()) {
			return own
		}
	}
	return nil
}

// learnMask looks whether a mask is one of those that the card's connections have by now.
func (e *Engine) learnMask(r *RNIC, d Direction, key flowkey.Key) *Entry {
	if _, foreign := r.manualFlowsOf(d).masks[key.Mask]; foreign {
		return nil
	}
	masks, seen := r.manualFlowsOf(d), map[int]bool{}
	for _, own := range e.sides(r, d) {
		if !seen[own.mask] {
			seen[own.mask] = true
			masks.own[r.bitsOf(own)] = own.mask
		}
	}
	if _, known := masks.own[key.Mask]; known {
		return e.ownFlow(r, d, key)
	}
	masks.masks[key.Mask] = firstForeignMask + len(masks.masks)
	return nil
}

// sides are the entries that Open vSwitch has or would have on a card, in the order of their connections.
func (e *Engine) sides(r *RNIC, d Direction) []*Entry {
	if r.sidesAt[d] == e.now+1 && r.sidesOf[d] == len(e.connections) {
		return r.sides[d]
	}
	r.sides[d], r.sidesAt[d], r.sidesOf[d] = r.sides[d][:0], e.now+1, len(e.connections)
	for _, c := range e.connections {
		if entry := c.side(d); entry != nil && entry.rnic == r && !c.ended {
			r.sides[d] = append(r.sides[d], entry)
		}
	}
	return r.sides[d]
}

// bitsOf are the header bits that an entry of Open vSwitch looks at.
func (r *RNIC) bitsOf(own *Entry) flowkey.Words {
	known := r.manualFlowsOf(own.dir).bits
	bits, ok := known[own.mask]
	if !ok {
		bits = own.ownKey().Mask
		known[own.mask] = bits
	}
	return bits
}

func (c *connection) side(d Direction) *Entry {
	if d == Egress {
		return c.egress
	}
	return c.ingress
}

// newManualFlow makes an entry and lets it have the packets that it matches.
func (e *Engine) newManualFlow(r *RNIC, d Direction, key flowkey.Key, actions, ufid string) *Entry {
	if ufid == "" {
		ufid = ufidOf(r.Host.Name + key.String())
	}
	masks := r.manualFlowsOf(d)
	number, own := masks.own[key.Mask]
	if !own {
		number = masks.masks[key.Mask]
	}
	made := &Entry{rnic: r, dir: d, mask: number, manual: &manualFlow{ufid: ufid, key: key, actions: actions}}
	for _, one := range e.sides(r, d) {
		if key.Matches(one.packet()) {
			made.cover(one)
		}
	}
	if len(made.manual.covers) > 0 {
		made.conn = made.manual.covers[0].conn
	} else { // packets that nobody sends yet
		_, vf := r.Host.ownerOf(inPort(key))
		nobody := &Container{RNIC: r, VF: vf}
		made.conn = &connection{src: nobody, dst: nobody}
	}
	made.judgeActions()
	masks.flows[key] = made
	return made
}

// revise is what a round of revalidation does to flows that somebody added or changed. It gives those that have to go.
func (r *RNIC) revise() []*Entry {
	var wide []*Entry
	for _, masks := range r.manual {
		if masks == nil {
			continue
		}
		for _, made := range masks.flows {
			if made.manual.wide && made.state == installed {
				wide = append(wide, made)
			}
			if made.manual.wrong && len(made.manual.covers) > 0 {
				made.manual.actions = r.Host.mustRead(made.manual.covers[0].actionText())
				made.head = nil
				made.judgeActions()
			}
		}
	}
	for _, one := range r.misdirected {
		one.misdirected = false
	}
	r.misdirected = nil
	slices.SortFunc(wide, func(a, b *Entry) int { return a.index - b.index })
	return wide
}

// finishDeletions ends those that wait for the firmware, where nothing else is left of a mask: they were requested before what is done by hand now.
func (r *RNIC) finishDeletions(g *maskchain.Group, now time.Duration) {
	var waiting []*Entry
	for _, c := range r.commands {
		if c.kind == deleteEntry && c.entry.group == g {
			waiting = append(waiting, c.entry)
		}
	}
	if len(waiting) < g.Entries {
		return
	}
	for _, entry := range waiting {
		r.manualDebt -= r.deletionTime()
		r.finishDeletion(entry, now)
	}
}

// finishDeletion ends a deletion that waits for the firmware.
func (r *RNIC) finishDeletion(e *Entry, now time.Duration) {
	r.commands = slices.DeleteFunc(r.commands, func(c command) bool { return c.entry == e })
	r.deletionsQueued--
	r.remove(e, now)
}
