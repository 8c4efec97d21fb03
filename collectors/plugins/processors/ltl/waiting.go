package ltl

import (
	"sort"

	"github.com/wallwatch/wallwatch/collectors/internal/ltl"
)

// maxWaiting bounds them: two dumps of a host that loses all its flows, or the thousands of lines of a driver in trouble.
const maxWaiting = 50_000

// waiting are events that wait until no older one can come: the kernel log is read at once, the CNI chain's files and flow dumps at
// each gathering.
type waiting struct {
	events []*ltl.Event
	sorted bool
}

// add adds an event. When there are too many, it returns the older half, to be processed now.
func (w *waiting) add(e *ltl.Event) []*ltl.Event {
	w.sorted = len(w.events) == 0 || (w.sorted && e.AtUs >= w.events[len(w.events)-1].AtUs)
	w.events = append(w.events, e)
	if len(w.events) <= maxWaiting {
		return nil
	}
	w.sort()
	return w.first(maxWaiting / 2)
}

// before are the events before a time, oldest first; they no longer wait.
func (w *waiting) before(atUs int64) []*ltl.Event {
	w.sort()
	return w.first(sort.Search(len(w.events), func(i int) bool { return w.events[i].AtUs >= atUs }))
}

// sort keeps events of one time in the order in which they came.
func (w *waiting) sort() {
	if !w.sorted {
		sort.SliceStable(w.events, func(i, j int) bool { return w.events[i].AtUs < w.events[j].AtUs })
		w.sorted = true
	}
}

func (w *waiting) first(n int) []*ltl.Event {
	if n == 0 {
		return nil
	}
	ready := w.events[:n:n]
	w.events = append([]*ltl.Event(nil), w.events[n:]...)
	return ready
}
