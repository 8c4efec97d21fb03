package ltl

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

func BenchmarkTableSteps(b *testing.B) {
	p := policies(b)[0]
	states, letters := make([]uint8, 1<<16), make([]uint8, 1<<16)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range letters {
		letters[i] = uint8(rng.UintN(1 << len(p.Propositions)))
	}
	shift, begin := uint(len(p.Propositions)), cpuTime(b)
	for b.Loop() {
		for i, letter := range letters {
			at := (i * 40503) & 0xffff
			states[at] = p.Table[uint(states[at])<<shift|uint(letter)]
		}
	}
	perCPU(b, begin, len(letters), "steps")
}

// BenchmarkEventsByUFID takes events as an input makes them: one after another, with the ufid as text, each flow's long after its last.
func BenchmarkEventsByUFID(b *testing.B) {
	for _, flows := range []int{1_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprintf("%dk", flows/1000), func(b *testing.B) { eventsByUFID(b, flows) })
	}
}

func eventsByUFID(b *testing.B, flows int) {
	r := runner(b, 1<<20, "flow-offloaded-once")
	var text strings.Builder
	for _, i := range rand.New(rand.NewPCG(5, 6)).Perm(flows) {
		fmt.Fprintf(&text, "%08x-0000-0000-%04x-%012x", uint32(i)*2654435761, i&0xffff, i*7919)
	}
	ids, at := text.String(), int64(0)
	batch, pointers := make([]Event, 256), make([]*Event, 256)
	for i := range batch {
		pointers[i] = &batch[i]
	}
	round := func() {
		for _, kind := range []string{"flow_offloaded", "flow_entry_created"} {
			for i := 0; i < flows; i += len(batch) {
				n := min(len(batch), flows-i)
				for k := range n {
					at++
					from := (i + k) * 36
					batch[k] = Event{Kind: kind, PCI: "0000:17:00.0", AtUs: at, UFID: ids[from : from+36]}
				}
				r.TakeAll(pointers[:n], func([]Violation) {})
			}
		}
	}
	round()
	begin := cpuTime(b)
	for b.Loop() {
		round()
	}
	perCPU(b, begin, 2*flows, "events")
}

// BenchmarkMemory reports what a live subject takes in total.
func BenchmarkMemory(b *testing.B) {
	const subjects = 500_000
	for b.Loop() {
		before := inUse()
		r := runner(b, subjects, "flow-offloaded-once", "flow-no-software-hit")
		e := flow("offloaded", 1, 0)
		id := []byte("00000000-0000-0000-0000-000000000001")
		for i := range subjects {
			copy(id, fmt.Sprintf("%08x", i))
			e.UFID = string(id)
			r.Take(e)
		}
		b.ReportMetric(float64(inUse()-before)/subjects, "B/subject")
		runtime.KeepAlive(r)
	}
}

func inUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func cpuTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// perCPU reports millions for each second of CPU time, which other work on the machine disturbs less than the clock.
func perCPU(b *testing.B, begin time.Duration, each int, what string) {
	b.ReportMetric(float64(b.N)*float64(each)/(cpuTime(b)-begin).Seconds()/1e6, "M"+what+"/cpu-s")
}
