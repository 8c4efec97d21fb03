package engine

import (
	"math"
	"time"
)

// The CPU time that a host's virtual switch takes (paper, section 2: forwarding in software takes CPU time, which is why it is offloaded;
// that this time runs out is the reason for the low throughput of what is not). Costs are assumed: they are what
// Open vSwitch's kernel datapath and its threads take on a server, and give the rates below.
const (
	// upcallCost is what a handler thread takes for one packet, so one core forwards 40,000 packets/s by upcalls; the paper's victims fall
	// below 1 Gbit/s.
	upcallCost = 25 * time.Microsecond
	// softwareCost is what the kernel takes for a packet of a flow that its datapath knows: 400,000 packets/s on one core.
	softwareCost = 2500 * time.Nanosecond
	// dumpCost is what a revalidator thread takes to fetch and check one flow.
	dumpCost = 12 * time.Microsecond
	// defaultCores is one core for handlers, one for revalidators, one for the kernel's forwarding: each has what it can use.
	defaultCores = 3.0
)

const (
	slowPathPackets = float64(time.Second) / float64(upcallCost)   // per host and second
	softwarePackets = float64(time.Second) / float64(softwareCost) // per host and second
)

// processor is the CPU time of a host's virtual switch. Demands are cores that would be busy if there were enough of them, at most one
// for each kind of work.
type processor struct {
	cores                            float64
	handlers, forwarding, revalidate float64 // demands; the first two of the step that is under way
	share                            float64 // of what it asks for that each kind of work gets, 0 to 1
}

func newProcessor(cores float64) processor {
	if cores == 0 {
		cores = defaultCores
	}
	return processor{cores: cores, share: 1}
}

// asked is the CPU time that could be used, in cores.
func (p *processor) asked() float64 {
	return math.Min(1, p.handlers) + math.Min(1, p.forwarding) + math.Min(1, p.revalidate)
}

// begin divides the cores by what was asked for in the step before.
func (p *processor) begin() {
	p.share = math.Min(1, p.cores/math.Max(p.asked(), p.cores))
	p.handlers, p.forwarding = 0, 0
}

// stretch is how long work takes that would take so long on a core of its own.
func (p *processor) stretch(work time.Duration) time.Duration {
	return time.Duration(float64(work) / p.share)
}

// BusyCores is the CPU time that the host's virtual switch takes, in cores.
func (h *Host) BusyCores() float64 { return math.Min(h.processor.asked(), h.processor.cores) }
