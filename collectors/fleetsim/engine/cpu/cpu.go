// Package cpu is the CPU time that a host's virtual switch takes (paper, section 2: forwarding in software takes CPU time, which is why it is
// offloaded; that this time runs out is the reason for the low throughput of what is not). Costs are assumed: they are what Open vSwitch's kernel
// datapath and its threads take on a server, and give the rates below.
package cpu

import (
	"math"
	"time"
)

const (
	// UpcallCost is what a handler thread takes for one packet, so one core forwards 40,000 packets/s by upcalls; the paper's victims fall
	// below 1 Gbit/s.
	UpcallCost = 25 * time.Microsecond
	// SoftwareCost is the kernel's CPU time per packet of a flow that its datapath knows: 400,000 packets/s on one core.
	SoftwareCost = 2500 * time.Nanosecond
	// DumpCost is what a revalidator thread takes to fetch and check one flow.
	DumpCost = 12 * time.Microsecond
	// DefaultCores is one core for handlers, one for revalidators, one for the kernel's forwarding: each has what it can use.
	DefaultCores = 3.0
)

// Packets that one core forwards per second.
const (
	UpcallPackets   = float64(time.Second) / float64(UpcallCost)
	SoftwarePackets = float64(time.Second) / float64(SoftwareCost)
)

// Processor is the CPU time of a host's virtual switch. Demands are cores that would be busy if there were enough of them, at most one per kind of
// work.
type Processor struct {
	// Handlers and Forwarding are the demands of the step that is under way.
	Handlers, Forwarding, Revalidators float64
	// Share is what each kind of work gets of its demand, 0 to 1.
	Share float64

	cores float64
}

// New returns a processor with a number of cores; 0 stands for DefaultCores.
func New(cores float64) Processor {
	if cores == 0 {
		cores = DefaultCores
	}
	return Processor{cores: cores, Share: 1}
}

// demand is the CPU time that could be used, in cores.
func (p *Processor) demand() float64 {
	return math.Min(1, p.Handlers) + math.Min(1, p.Forwarding) + math.Min(1, p.Revalidators)
}

// Begin begins a step: it divides the cores by the demand of the step before.
func (p *Processor) Begin() {
	p.Share = math.Min(1, p.cores/math.Max(p.demand(), p.cores))
	p.Handlers, p.Forwarding = 0, 0
}

// Stretch returns how long work takes that needs this long on a core of its own.
func (p *Processor) Stretch(work time.Duration) time.Duration {
	return time.Duration(float64(work) / p.Share)
}

// BusyCores is the CPU time that is used, in cores.
func (p *Processor) BusyCores() float64 { return math.Min(p.demand(), p.cores) }
