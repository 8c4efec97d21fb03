package smartnic

import (
	"fmt"
	"slices"
	"strings"
)

// Kind is what a function does with a packet.
type Kind struct {
	Name string
	// Pipeline: cores hand packets to the accelerator and go on. Otherwise a core waits for its packet's result (run to completion).
	Pipeline bool
	// CoreUs is the time of a packet on a core without references to the table, PerByteNs what each byte adds.
	CoreUs, PerByteNs float64
	// References are the cache lines of the function's table that a packet touches; a miss may overlap with Overlap others.
	References, Overlap float64
	// FixedMB and BytesPerFlow make the table: the working set.
	FixedMB, BytesPerFlow float64
	Instructions          float64 // per packet
	Sleeps                bool    // while there is no work; functions poll for packets otherwise
	// RegexUs and RegexUsPerMatch are the accelerator's time for a packet; both 0: the function does not use it.
	RegexUs, RegexUsPerMatch float64
	Queues                   int // at the accelerator
}

// UsesRegex reports whether packets pass the accelerator.
func (k Kind) UsesRegex() bool { return k.RegexUs > 0 }

var kinds = []Kind{
	{Name: "flowmonitor", Pipeline: true, CoreUs: 1.7, References: 15, Overlap: 2, FixedMB: 0.4, BytesPerFlow: 190, Instructions: 4200, RegexUs: 0.15, RegexUsPerMatch: 1.4, Queues: 1},
	{Name: "flowstats", CoreUs: 1.2, References: 11, Overlap: 1.5, FixedMB: 0.3, BytesPerFlow: 150, Instructions: 2600},
	{Name: "acl", CoreUs: 1.5, PerByteNs: 0.02, References: 3, Overlap: 3, FixedMB: 0.8, Instructions: 3300},
	{Name: "nat", CoreUs: 1.0, References: 9, Overlap: 1.5, FixedMB: 0.3, BytesPerFlow: 96, Instructions: 2100},
	{Name: "iptunnel", CoreUs: 0.9, PerByteNs: 0.3, References: 5, Overlap: 2.5, FixedMB: 1.2, Instructions: 2400},
	{Name: "nids", CoreUs: 2.1, PerByteNs: 0.25, References: 7, Overlap: 2, FixedMB: 1.5, BytesPerFlow: 40, Instructions: 5600, RegexUs: 0.35, RegexUsPerMatch: 1.9, Queues: 2},
}

// KindNames lists the functions that the simulator knows.
func KindNames() []string {
	names := make([]string, len(kinds))
	for i, kind := range kinds {
		names[i] = kind.Name
	}
	return names
}

// LookupKind finds a function by its name.
func LookupKind(name string) (Kind, error) {
	if at := slices.IndexFunc(kinds, func(k Kind) bool { return k.Name == name }); at >= 0 {
		return kinds[at], nil
	}
	return Kind{}, fmt.Errorf("unknown function %q; expected one of %s", name, strings.Join(KindNames(), ", "))
}

// MemoryBench walks a table of its own and does nothing else.
func MemoryBench(workingSetMB float64) Kind {
	return Kind{Name: "memory bench", CoreUs: 0.08, References: 40, Overlap: 4, FixedMB: workingSetMB, Instructions: 700, Sleeps: true}
}

// ComputeBench executes instructions whose data the first level of the cache holds, as functions do between references to their tables.
func ComputeBench() Kind {
	return Kind{Name: "compute bench", CoreUs: 0.008, Instructions: ComputeBenchInstructions}
}

// ComputeBenchInstructions are those of a packet of the compute bench.
const ComputeBenchInstructions = 30.0

// RegexBench keeps its queues at the accelerator full.
func RegexBench(queues int, us float64) Kind {
	return Kind{Name: "regex bench", Pipeline: true, CoreUs: 0.02, Instructions: 60, RegexUs: us, Queues: queues}
}
