package ltl

// forgotten remembers, in a few bits each, subjects that were forgotten: when one comes again its past is unknown, so it must start as
// unknown. It never misses one that it remembers; now and then it mistakes a new one for a forgotten one, which hides a violation at worst.
type forgotten struct {
	bits    [2][]uint64 // of this period and of the one before; made on first use
	sinceUs int64
}

const (
	forgottenBits = 1 << 20
	// rememberedUs is the least time for which a forgotten subject is remembered: a week. A subject that was quiet for longer starts again.
	rememberedUs = 7 * 24 * 3600 * 1_000_000
)

// places are two of the bits, from parts of a hash that the index does not use for its cells.
func places(hash uint64) [2]uint64 {
	hash *= 0x9e3779b97f4a7c15
	return [2]uint64{hash >> 44, hash >> 24 & (forgottenBits - 1)}
}

func (f *forgotten) add(hash uint64, nowUs int64) {
	switch {
	case f.bits[0] == nil:
		f.bits[0], f.sinceUs = make([]uint64, forgottenBits/64), nowUs
	case nowUs-f.sinceUs > rememberedUs:
		f.bits[0], f.bits[1] = f.bits[1], f.bits[0]
		if f.bits[0] == nil {
			f.bits[0] = make([]uint64, forgottenBits/64)
		}
		clear(f.bits[0])
		f.sinceUs = nowUs
	}
	for _, at := range places(hash) {
		f.bits[0][at/64] |= 1 << (at % 64)
	}
}

func (f *forgotten) has(hash uint64) bool {
	for _, bits := range f.bits {
		if bits == nil {
			continue
		}
		all := true
		for _, at := range places(hash) {
			all = all && bits[at/64]>>(at%64)&1 != 0
		}
		if all {
			return true
		}
	}
	return false
}
