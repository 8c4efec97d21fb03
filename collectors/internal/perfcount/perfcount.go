// Package perfcount counts what the processes of a control group do to the memory subsystem: cycles, instructions, accesses to a cache and to
// memory. On a host the counts come from perf_event_open; for a simulated host, or a captured one, from files as `perf stat` writes them.
package perfcount

import (
	"errors"
	"strings"
	"time"
)

// Event is one thing that is counted.
type Event int

// The events, in the order of Counts.
const (
	Cycles Event = iota
	Instructions
	CacheReads
	CacheWrites
	MemoryReads
	MemoryWrites
	Events
)

// String names the event for messages.
func (e Event) String() string {
	return [...]string{"cycles", "instructions", "cache reads", "cache writes", "memory reads", "memory writes"}[e]
}

// Level says which events stand for cache and memory.
type Level string

// The levels. Figures of the two are not comparable.
const (
	L2  Level = "l2"  // Armv8: l2d_cache_rd, l2d_cache_wr, mem_access_rd, mem_access_wr
	LLC Level = "llc" // elsewhere: loads and stores of the last-level cache, and their misses
)

// Count is one event's since its group was opened. Value is scaled up where the kernel shared the hardware between more events than it has
// counters for: the event was counted for Running of the Enabled time.
type Count struct {
	Value            float64
	Enabled, Running time.Duration
}

// Counts are the events' counts; nil where the host does not count an event.
type Counts [Events]*Count

// Group counts one control group.
type Group interface {
	Read() (Counts, error)
	Level() Level
	// Limits says, in sentences, which events the host does not count, and what to do about it.
	Limits() []string
	Close() error
}

// Source opens groups. cpus are those that the group's processes may run on.
type Source interface {
	Open(group string, cpus []int) (Group, error)
}

// uncounted says, in one sentence, which events the hardware does not count.
func uncounted(events []Event) []string {
	if len(events) == 0 {
		return nil
	}
	names := make([]string, len(events))
	for i, event := range events {
		names[i] = event.String()
	}
	return []string{"this CPU, or its virtual machine, has no counter for " + strings.Join(names, ", ")}
}

// ErrGone says that a group does not exist any more.
var ErrGone = errors.New("the control group is gone")
