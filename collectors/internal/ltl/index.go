package ltl

// index finds the slot of a key: open addressing with linear probing, four bytes a cell. The keys themselves are in the slots, so that a
// look-up touches one cell and one slot; Go's own map would keep each key a second time.
type index struct {
	cells []uint32 // slot + 1; 0 is free. Their number is a power of two
	count int
}

const smallest = 16

// place is where the search for a key begins. A ufid's bits are even already; the product mixes those of other keys.
func (x *index) place(k key) int {
	return int((k[0] ^ k[1]) * 0x9e3779b97f4a7c15 >> 32 & uint64(len(x.cells)-1)) // #nosec G115 -- masked
}

// find is the slot of a key.
func (x *index) find(slots []subject, k key) (uint32, bool) {
	if len(x.cells) == 0 {
		return 0, false
	}
	for at := x.place(k); ; at = (at + 1) & (len(x.cells) - 1) {
		cell := x.cells[at]
		if cell == 0 {
			return 0, false
		}
		if slots[cell-1].key == k {
			return cell - 1, true
		}
	}
}

// touch brings what find will need into the processor's caches: the cells of many keys first, then their slots, so that the processor
// waits for many of them at a time. What it returns means nothing.
func (x *index) touch(slots []subject, keys []key) (sum uint64) {
	if len(x.cells) == 0 {
		return 0
	}
	var cells [ahead]uint32
	for i, k := range keys {
		cells[i] = x.cells[x.place(k)]
	}
	for _, cell := range cells[:len(keys)] {
		if cell != 0 {
			sum += slots[cell-1].key[0]
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
				x.put(slots, cell)
			}
		}
	}
	x.put(slots, slot+1)
	x.count++
}

func (x *index) put(slots []subject, cell uint32) {
	at := x.place(slots[cell-1].key)
	for x.cells[at] != 0 {
		at = (at + 1) & (len(x.cells) - 1)
	}
	x.cells[at] = cell
}

// remove forgets a key that is there, and moves up what was pushed aside by it.
func (x *index) remove(slots []subject, k key) {
	mask := len(x.cells) - 1
	hole := x.place(k)
	for slots[x.cells[hole]-1].key != k {
		hole = (hole + 1) & mask
	}
	for at := (hole + 1) & mask; x.cells[at] != 0; at = (at + 1) & mask {
		if home := x.place(slots[x.cells[at]-1].key); (at-home)&mask >= (at-hole)&mask {
			x.cells[hole], hole = x.cells[at], at
		}
	}
	x.cells[hole] = 0
	x.count--
}
