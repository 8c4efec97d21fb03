package ltl

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

func TestMoreMomentsThanAByteCountsAreCrowded(t *testing.T) {
	m := newMoments()
	for i := range 300 {
		m.of(moment{kinds: []string{fmt.Sprint(i)}})
	}
	last := m.of(moment{kinds: []string{"299"}})
	if first := m.of(moment{kinds: []string{"0"}}); last != crowded || first != 1 || m.join(first, last) != crowded || m.join(first, 2) != crowded {
		t.Errorf("%d, %d", first, last)
	}
}

func TestMemoryIsBoundedAndWhatWasForgottenIsCounted(t *testing.T) {
	r := runner(t, 100, "flow-offloaded-once")
	for i := range 1000 {
		r.Take(flow("offloaded", int64(i), i))
	}
	if c := counts(t, r, "flow-offloaded-once"); c.Subjects != 100 || c.Evicted != 900 {
		t.Errorf("%+v", c)
	}
	expect(t, play(r, flow("offloaded", 2000, 999)), "flow-offloaded-once 2000 0000:17:00.0 000003e7-0000-0000-0000-000000000001: flow_offloaded flow_offloaded")
}

func TestASubjectThatWasQuietForLongIsForgottenAndUnknownWhenItComesAgain(t *testing.T) {
	r := New(policies(t), Options{MaxSubjects: 100, ForgetUs: 100 * second})
	of := func() Counts { return counts(t, r, "flow-no-entry-before-offload") }
	r.Take(flow("offloaded", 1, 1))
	r.Take(flow("offloaded", 60, 2))
	r.Tick(101 * second)
	if c := of(); c.Subjects != 2 || c.Evicted != 0 {
		t.Errorf("before its time: %+v", c)
	}
	r.Tick(102 * second)
	if c := of(); c.Subjects != 1 || c.Evicted != 1 {
		t.Errorf("after it: %+v", c)
	}
	// The entry of the first was offloaded once; the third is a new one, of which everything is known.
	if found := r.Take(flow("entry_created", 103, 1)); len(found) != 0 {
		t.Errorf("made up: %v", found)
	}
	r.Take(flow("entry_created", 104, 3))
	if found := r.Tick(105 * second); len(found) == 0 || found[0].Policy.ID != "flow-no-entry-before-offload" {
		t.Errorf("of a new one: %v", found)
	}
	if c := of(); c.Subjects != 3 || c.Unknown != 1 {
		t.Errorf("after both: %+v", c)
	}
}

func TestWhatWasForgottenIsRememberedForAWeek(t *testing.T) {
	var f forgotten
	const day = rememberedUs / 7
	rng := rand.New(rand.NewPCG(7, 8))
	hashes := make([]uint64, 1000)
	for i := range hashes {
		hashes[i] = rng.Uint64()
		f.add(hashes[i], int64(i)*day/1000)
	}
	taken := 0
	for range 1000 {
		if f.has(rng.Uint64()) {
			taken++
		}
	}
	if taken > 10 {
		t.Errorf("%d of 1000 new ones are taken for forgotten ones", taken)
	}
	for _, c := range []struct{ day, want int64 }{{7, 1000}, {9, 1000}, {17, 0}} {
		f.add(0, c.day*day)
		count := int64(0)
		for _, hash := range hashes {
			if f.has(hash) {
				count++
			}
		}
		if count != c.want {
			t.Errorf("on day %d %d are remembered, not %d", c.day, count, c.want)
		}
	}
}
