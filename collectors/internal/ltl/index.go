package ltl

import "math/rand/v2"

// index finds the slot of a key: open addressing with linear probing, four bytes a cell. The keys themselves are in the slots, so that a
// look-up touches one cell and one slot; Go's own map would keep each key a second time. A cell has some bits of its key's hash too: without
// them each cell passed over would cost a look at its slot, and so a miss of the caches.
type index struct {
	cells []uint32 // tag and slot + 1; 0 is free. Their number is a power of two
	count int
	seeds [2]uint64
}

const (
	smallest = 16
	slotBits = 24
	slotMask = 1<<slotBits - 1
	mostKeys = slotMask - 1
)

// newIndex draws what nobody outside can know: who may choose keys could otherwise choose such that all begin at one place.
func newIndex() index { return index{seeds: [2]uint64{rand.Uint64() | 1, rand.Uint64() | 1}} } // #nosec G404 -- ChaCha8, and no secret

// hash is multilinear, of which the upper bits are good.
func (x *index) hash(k key) uint64 { return k[0]*x.seeds[0] + k[1]*x.seeds[1] }

// place is where the search for a hash begins.
func (x *index) place(hash uint64) int {
	return int(hash >> 32 & uint64(len(x.cells)-1)) // #nosec G115 -- masked
}

func tagOf(hash uint64) uint32 { return uint32(hash>>56) << slotBits } // #nosec G115 -- eight bits

// find is the slot of a key.
func (x *index) find(slots []subject, k key) (uint32, bool) {
	if len(x.cells) == 0 {
		return 0, false
	}
	hash := x.hash(k)
	tag := tagOf(hash)
	for at := x.place(hash); ; at = (at + 1) & (len(x.cells) - 1) {
		cell := x.cells[at]
		if cell == 0 {
			return 0, false
		}
		if slot := cell&slotMask - 1; cell&^slotMask == tag && slots[slot].key == k {
			return slot, true
		}
	}
}

// touch brings what find will need into the processor's caches: the cells of many keys first, then their slots, so that the processor
// waits for many of them at a time. What it returns means nothing.
func (x *index) touch(slots []subject, keys []key) (sum uint64) {
	if len(x.cells) == 0 {
		return 0
	}
	var hashes [ahead]uint64
	for i, k := range keys {
		hashes[i] = x.hash(k)
		sum += uint64(x.cells[x.place(hashes[i])])
	}
	for _, hash := range hashes[:len(keys)] {
		at, tag := x.place(hash), tagOf(hash)
		cell := x.cells[at]
		for cell != 0 && cell&^slotMask != tag {
			at = (at + 1) & (len(x.cells) - 1)
			cell = x.cells[at]
		}
		if cell != 0 {
			sum += slots[cell&slotMask-1].key[0]
		}
	}
	return sum
}

// add notes the slot of a key that is not there yet; slots[slot].key is that key.
func (x *index) add(slots []subject, slot uint32) {
	if 4*(x.count+1) > 3*len(x.cells) {
		before := x.cells
		x.cells = make([]uint32, max(smallest, 2*len(before)))
		for _, cell := range before {
			if cell != 0 {
				x.put(slots, cell&slotMask-1)
			}
		}
	}
	x.put(slots, slot)
	x.count++
}

func (x *index) put(slots []subject, slot uint32) {
	hash := x.hash(slots[slot].key)
	at := x.place(hash)
	for x.cells[at] != 0 {
		at = (at + 1) & (len(x.cells) - 1)
	}
	x.cells[at] = tagOf(hash) | (slot + 1)
}

// remove forgets a key that is there, and moves up what was pushed aside by it.
func (x *index) remove(slots []subject, k key) {
	mask := len(x.cells) - 1
	hole := x.place(x.hash(k))
	for slots[x.cells[hole]&slotMask-1].key != k {
		hole = (hole + 1) & mask
	}
	for at := (hole + 1) & mask; x.cells[at] != 0; at = (at + 1) & mask {
		if home := x.place(x.hash(slots[x.cells[at]&slotMask-1].key)); (at-home)&mask >= (at-hole)&mask {
			x.cells[hole], hole = x.cells[at], at
		}
	}
	x.cells[hole] = 0
	x.count--
}
