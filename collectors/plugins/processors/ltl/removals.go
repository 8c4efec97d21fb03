package ltl

import "github.com/wallwatch/wallwatch/collectors/internal/ltl"

// removal is the kind of event by which a container, and with it the entries of its flows, leaves a virtual function.
const removal = "cni_del"

// removed is the kind of event that precedes the deletion of such an entry. It never leaves the processor.
const removed = "flow_removed"

// removalUs is how long after its container an entry may be deleted because of it: two dumps, the switch's idle time and one sweep.
const removalUs = 60_000_000

// removals remembers when containers left their virtual functions: a dump does not show why an entry was deleted.
type removals struct{ at map[string]int64 }

// note is called with events in order of time. It returns an event to process before this one, or nil.
func (r *removals) note(e *ltl.Event) *ltl.Event {
	device, _ := e.Fields["device"].(string)
	switch {
	case device == "":
	case e.Kind == removal:
		if r.at == nil {
			r.at = map[string]int64{}
		}
		for other, at := range r.at {
			if at < e.AtUs-removalUs {
				delete(r.at, other)
			}
		}
		r.at[device] = e.AtUs
	case e.Kind == "flow_entry_deleted":
		if at, known := r.at[device]; known && e.AtUs-at <= removalUs {
			return &ltl.Event{Kind: removed, PCI: e.PCI, AtUs: e.AtUs, Fields: e.Fields}
		}
	}
	return nil
}
