package cni_events

import "github.com/wallwatch/wallwatch/collectors/internal/cnievent"

// deletions remembers what was deleted, since runtimes repeat DEL to be sure: only the first one takes a VF away.
type deletions struct{ seen map[attachment]bool }

type attachment struct{ container, iface string }

// maxDeletions bounds the memory. A repeated DEL follows the first one soon.
const maxDeletions = 4096

// note learns from an event, and reports whether it repeats a DEL.
func (d *deletions) note(e cnievent.Event) bool {
	about := attachment{e.Container, e.Interface}
	switch {
	case e.Command != "DEL":
		delete(d.seen, about)
		return false
	case d.seen[about]:
		return true
	}
	if d.seen == nil || len(d.seen) >= maxDeletions {
		d.seen = make(map[attachment]bool)
	}
	d.seen[about] = true
	return false
}
