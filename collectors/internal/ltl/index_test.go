package ltl

import (
	"math/rand/v2"
	"testing"
)

func TestTheIndexFindsWhatAMapFinds(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	x := newIndex()
	slots, where, free := make([]subject, 300), map[key]uint32{}, []uint32{}
	for i := range slots {
		free = append(free, uint32(i))
	}
	for range 20_000 {
		k := key{rng.Uint64N(400), 0} // many, but not all, are there
		at, there := x.find(slots, k)
		if want, known := where[k]; known != there || (there && want != at) {
			t.Fatalf("%v: %d %v, and the map has %d %v", k, at, there, want, known)
		}
		switch {
		case there:
			x.remove(slots, k)
			delete(where, k)
			free = append(free, at)
		case len(free) > 0:
			at, free = free[len(free)-1], free[:len(free)-1]
			slots[at].key = k
			x.add(slots, at)
			where[k] = at
		}
		if x.count != len(where) {
			t.Fatalf("%d of %d", x.count, len(where))
		}
	}
}
