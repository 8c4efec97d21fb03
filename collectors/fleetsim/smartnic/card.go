// Package smartnic simulates the cores, the cache, the memory and the accelerator of a SmartNIC on which network functions run.
//
// What the functions do to each other comes from mechanisms: cache lines push others out in proportion to what is brought in; each miss waits
// for a memory that gets slower the busier it is; an accelerator serves its queues in turn, one request after the other. The mathematics is
// not that of the product's models, so that agreement means something.
package smartnic

import (
	"math"
	"math/rand/v2"
	"time"
)

// Of a card like a BlueField-2.
const (
	Cores       = 8
	cacheMB     = 6.0
	hitNs       = 12.0
	missNs      = 95.0
	lineBytes   = 64.0
	memoryMBps  = 9_500.0 // of random lines
	frequencyHz = 2.5e9
	// iterations bring what depends on each other to rest: it does so within milliseconds, a step of the simulation takes longer.
	iterations = 40
	damping    = 0.35
	// fillingRate times what the accelerator could serve keeps a queue full.
	fillingRate = 3
	// fullest is the load of the memory above which waiting would grow without limit.
	fullest = 0.97
	// readShare is what of the references beyond the first level is read; the rest is written.
	readShare = 0.67
)

// Traffic is what arrives for a function.
type Traffic struct {
	Flows, PacketBytes, MTBR, KPPS float64
	// Slower is the share by which the function itself takes longer than it was made to: an update, a bug.
	Slower float64
}

// Counters are totals since the function's start.
type Counters struct {
	Cycles, Instructions, CacheReads, CacheWrites, MemoryReads, MemoryWrites float64
	CPU                                                                      time.Duration
	Processed, Offered, Bytes, Matches                                       float64
}

// Function runs on a card.
type Function struct {
	Kind    Kind
	Cores   int
	Traffic Traffic
	Counters

	occupiedMB float64
	kpps       float64 // processed in the last step
	engineKPPS float64 // what the accelerator let through
	missShare  float64
	waitUs     float64
	capacity   float64 // kpps of its cores
}

// KPPS is what the function processed in the last step.
func (f *Function) KPPS() float64 { return f.kpps }

// WorkingSetMB is the size of the function's table.
func (f *Function) WorkingSetMB() float64 {
	return f.Kind.FixedMB + f.Traffic.Flows*f.Kind.BytesPerFlow/1e6
}

func (f *Function) matches() float64 { return f.Traffic.MTBR * f.Traffic.PacketBytes / 1e6 }

func (f *Function) serviceUs() float64 { return f.Kind.RegexUs + f.Kind.RegexUsPerMatch*f.matches() }

// Card is a SmartNIC with functions on it.
type Card struct {
	Functions []*Function
	random    *rand.Rand
	load      float64 // of the memory
}

// NewCard returns a card without functions.
func NewCard(seed uint64) *Card {
	return &Card{random: rand.New(rand.NewPCG(seed, 0x6e66))} //nolint:gosec // a simulation
}

// FreeCores are those that no function has.
func (c *Card) FreeCores() int {
	free := Cores
	for _, f := range c.Functions {
		free -= f.Cores
	}
	return free
}

// Step lets the card work for a time.
func (c *Card) Step(dt time.Duration) {
	for i := range iterations {
		c.share()
		if i%8 == 7 || i == 0 {
			c.accelerate()
		}
		c.settle()
	}
	for _, f := range c.Functions {
		f.count(dt.Seconds())
	}
}

// coreUs is the time of a packet on a core, without waiting for the accelerator.
func (c *Card) coreUs(f *Function) float64 {
	latency := missNs / (1 - min(c.load, fullest))
	memory := f.Kind.References * (hitNs + f.missShare*latency) / max(f.Kind.Overlap, 1) / 1000
	return (f.Kind.CoreUs + f.Kind.PerByteNs*f.Traffic.PacketBytes/1000 + memory) * (1 + f.Traffic.Slower)
}

// share lets cache lines push each other out: each that is brought in takes the place of any other.
func (c *Card) share() {
	brought, total, occupied, traffic := make([]float64, len(c.Functions)), 0.0, 0.0, 0.0
	for i, f := range c.Functions {
		set := f.WorkingSetMB()
		f.occupiedMB = min(f.occupiedMB, set)
		f.missShare = 0
		if set > 0 {
			f.missShare = 1 - f.occupiedMB/set
		}
		brought[i] = f.kpps * 1000 * f.Kind.References * f.missShare * lineBytes / 1e6 // MB/s
		total += brought[i]
		occupied += f.occupiedMB
		traffic += brought[i]
	}
	c.load += damping * (min(traffic/memoryMBps, 1) - c.load)
	if total == 0 {
		total = 1e-9
	}
	amount := cacheMB * 0.3 // brought in before the next look
	room := max(cacheMB-occupied, 0)
	for i, f := range c.Functions {
		in := amount * brought[i] / total
		out := 0.0
		if occupied > 0 {
			out = max(amount-room, 0) * f.occupiedMB / occupied
		}
		f.occupiedMB = min(max(f.occupiedMB+in-out, 0), f.WorkingSetMB())
	}
}

// accelerate lets the accelerator serve those who use it.
func (c *Card) accelerate() {
	var users []*Function
	var clients []client
	for _, f := range c.Functions {
		if !f.Kind.UsesRegex() {
			continue
		}
		one := client{queues: f.Kind.Queues, serviceUs: f.serviceUs()}
		if core := c.coreUs(f); f.Kind.Pipeline {
			// More than this only fills queues that are full already.
			one.arrivalsPerUs = min(f.Traffic.KPPS/1000, float64(f.Cores)/core, fillingRate*float64(one.queues)/one.serviceUs)
		} else {
			one.threads = f.Cores
			one.thinkUs = max(core, float64(f.Cores)/max(f.Traffic.KPPS/1000, 1e-9)-one.serviceUs-f.waitUs)
		}
		users, clients = append(users, f), append(clients, one)
	}
	if len(users) == 0 {
		return
	}
	for i, rate := range serve(clients, c.random) {
		f := users[i]
		f.engineKPPS = rate * 1000
		if clients[i].threads > 0 && rate > 0 {
			f.waitUs = max(float64(f.Cores)/rate-clients[i].thinkUs-clients[i].serviceUs, 0)
		}
	}
}

// settle moves each function towards what its slowest part lets through.
func (c *Card) settle() {
	for _, f := range c.Functions {
		f.capacity = float64(f.Cores) / c.coreUs(f) * 1000
		target := min(f.Traffic.KPPS, f.capacity)
		if f.Kind.UsesRegex() {
			target = min(target, f.engineKPPS)
		}
		if f.kpps == 0 {
			f.kpps = target
		}
		f.kpps += damping * (target - f.kpps)
	}
}

func (f *Function) count(seconds float64) {
	packets := f.kpps * 1000 * seconds
	f.Processed += packets
	f.Offered += max(f.Traffic.KPPS, f.kpps) * 1000 * seconds
	f.Bytes += packets * f.Traffic.PacketBytes
	f.Matches += packets * f.matches()
	instructions := packets * f.Kind.Instructions
	lines := packets * f.Kind.References * 3 // each line beyond the first level, with those that always hit
	f.Instructions += instructions
	f.CacheReads += lines * readShare
	f.CacheWrites += lines * (1 - readShare)
	f.MemoryReads += instructions * 0.3 // Armv8 counts every load and store of data here
	f.MemoryWrites += instructions * 0.1
	busy := float64(f.Cores) * seconds // cores poll for packets
	if f.Kind.Sleeps {
		busy *= min(f.kpps/f.capacity, 1)
	}
	f.Cycles += busy * frequencyHz
	f.CPU += time.Duration(math.Round(busy * 1e9))
}
