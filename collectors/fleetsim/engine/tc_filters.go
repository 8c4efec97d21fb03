package engine

import (
	"errors"
	"time"
)

// The filters of TC that stand for what is in the hardware: Open vSwitch makes one for each flow that it offloads, at the port that the packets come
// from; those that come out of a tunnel are at the tunnel's port.

// Filter is one line of "tc filter show dev PORT ingress".
type Filter struct {
	UFID             string
	Priority, Handle int
}

// ErrNoFilter is the answer about a filter that is not there.
var ErrNoFilter = errors.New("Specified filter handle not found.") //nolint:staticcheck,revive // the kernel's words

// Filters is "tc filter show dev PORT ingress".
func (e *Engine) Filters(h *Host, port string) ([]Filter, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	found, err := h.filtersAt(port)
	if err != nil {
		return nil, err
	}
	filters := make([]Filter, 0, len(found))
	for _, entry := range found {
		if entry.head == nil {
			entry.render()
		}
		filters = append(filters, Filter{UFID: entry.ufid(), Priority: entry.mask%0xfffe + 1, Handle: entry.handle()})
	}
	return filters, nil
}

// DeleteFilter is "tc filter del dev PORT ingress ... handle HANDLE flower". Open vSwitch is not notified.
func (e *Engine) DeleteFilter(h *Host, port string, handle int) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	found, err := h.filtersAt(port)
	if err != nil {
		return err
	}
	for _, entry := range found {
		if entry.handle() == handle {
			return entry.rnic.dropFilter(entry, e.now)
		}
	}
	return ErrNoFilter
}

func (r *RNIC) dropFilter(entry *Entry, now time.Duration) error {
	if r.silent() {
		return errors.New("Connection timed out") //nolint:staticcheck // the kernel's words
	}
	r.lose(entry, now)
	return nil
}

// filtersAt are the entries of one port. A port of the switch that is no VF's and no tunnel's has none.
func (h *Host) filtersAt(port string) ([]*Entry, error) {
	if port == TunnelPort {
		var found []*Entry
		for _, r := range h.RNICs {
			for _, entry := range r.entries {
				if entry.dir == Ingress && entry.state == installed {
					found = append(found, entry)
				}
			}
		}
		return found, nil
	}
	r, vf, err := h.port(port)
	if err != nil {
		if _, known := h.portNumbers()[port]; known {
			return nil, nil
		}
		for _, r := range h.RNICs {
			if r.Netdev == port {
				return nil, nil
			}
		}
		return nil, err
	}
	return r.filters(vf), nil
}

// handle numbers the entries of a host that are installed.
func (e *Entry) handle() int { return (e.rnic.Index+1)<<20 | e.counter }
