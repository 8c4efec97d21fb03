package ltl

import (
	"sort"

	"github.com/wallwatch/wallwatch/collectors/internal/ltl"
)

// mostHeld bounds the events that wait: a driver in trouble writes thousands of them.
const mostHeld = 10_000

// held are events that wait until none from before them can come: the kernel log is read at once, the CNI chain's files at each gathering.
type held struct{ events []*ltl.Event }

// add keeps an event. When there are too many the first is to be taken now.
func (h *held) add(e *ltl.Event) (first *ltl.Event, full bool) {
	at := len(h.events)
	for at > 0 && h.events[at-1].AtUs > e.AtUs {
		at--
	}
	h.events = append(h.events, nil)
	copy(h.events[at+1:], h.events[at:])
	h.events[at] = e
	if len(h.events) <= mostHeld {
		return nil, false
	}
	first = h.events[0]
	h.events = h.events[1:]
	return first, true
}

// before are the events before a time, oldest first; they are held no more.
func (h *held) before(atUs int64) []*ltl.Event {
	n := sort.Search(len(h.events), func(i int) bool { return h.events[i].AtUs >= atUs })
	ready := h.events[:n:n]
	h.events = append([]*ltl.Event(nil), h.events[n:]...)
	return ready
}
