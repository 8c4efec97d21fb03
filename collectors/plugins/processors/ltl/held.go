package ltl

import (
	"sort"

	"github.com/wallwatch/wallwatch/collectors/internal/ltl"
)

// mostHeld bounds the events that wait: two dumps of a host that loses all its flows; a driver in trouble writes thousands too.
const mostHeld = 50_000

// held are events that wait until none from before them can come: the kernel log is read at once, the CNI chain's files and flow dumps at
// each gathering.
type held struct {
	events []*ltl.Event
	sorted bool
}

// add keeps an event. When there are too many, the older half is to be taken now.
func (h *held) add(e *ltl.Event) []*ltl.Event {
	h.sorted = len(h.events) == 0 || (h.sorted && e.AtUs >= h.events[len(h.events)-1].AtUs)
	h.events = append(h.events, e)
	if len(h.events) <= mostHeld {
		return nil
	}
	h.sort()
	return h.first(mostHeld / 2)
}

// before are the events before a time, oldest first; they are held no more.
func (h *held) before(atUs int64) []*ltl.Event {
	h.sort()
	return h.first(sort.Search(len(h.events), func(i int) bool { return h.events[i].AtUs >= atUs }))
}

// sort keeps events of one time in the order in which they came.
func (h *held) sort() {
	if !h.sorted {
		sort.SliceStable(h.events, func(i, j int) bool { return h.events[i].AtUs < h.events[j].AtUs })
		h.sorted = true
	}
}

func (h *held) first(n int) []*ltl.Event {
	if n == 0 {
		return nil
	}
	ready := h.events[:n:n]
	h.events = append([]*ltl.Event(nil), h.events[n:]...)
	return ready
}
