package engine

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine/maskchain"
	"github.com/wallwatch/wallwatch/collectors/fleetsim/rnicmodel"
)

// RNIC is one simulated card with one port.
type RNIC struct {
	Host          *Host
	Index         int
	PCI           string
	Model         rnicmodel.Model
	FixedFirmware bool // reads counters in time (without C5)
	// EvictingFirmware reads counters in time as well, but deletes entries whose deletion nobody requested (has C1).
	EvictingFirmware bool
	FixedDriver      bool // handles time-outs and refused entries (without C2 and C3)
	IBDev, Netdev    string
	GUID             uint64
	VTEP             netip.Addr
	VFs              []*Container // by VF number; nil where free
	Counters         Counters

	CarrierChanges int
	VFCounters     []VFCounters

	chains         [2]*maskchain.Chain
	entries        []*Entry
	counters       []*Entry // by number; nil where free
	cursor         int      // the counter that the scan reads next
	roundBegan     time.Duration
	freeCounters   []int
	rng            *rand.Rand
	commands       []command
	sourcePort     int
	baseMasks      int
	noise          float64
	noiseDeviation float64
	out, in        load

	commandDebt, scanDebt time.Duration
	manualDebt            time.Duration // what the interface still has to do for operations by hand, below zero
	scanBehind            bool
	deletionsQueued       int
	contexts              map[context]int // encapsulation contexts and how many entries use them
	wedgedAt              time.Duration   // since when the firmware has stopped, 0 if it works
	healthSaid            bool
	health                Health
	failureSecond         time.Duration
	failuresSaid          int
	releases              []release
	link                  pciLink
	portDownUntil         time.Duration // the operator's doing; 0 when up
	transceiver           transceiver
	index                 [][]*Entry // of flawed firmware, by set; nil until it is used
	ports                 []portOffload
	groups                map[string]RateGroup // of rates, by name
	asked                 []float64            // Gbit/s that each VF would like to send
	observer              Observer
	shared                *shared     // nil without tenants
	transports            *transports // nil without streams

	misdirected []*Entry // flows of Open vSwitch that somebody gave other actions

	manual  [2]*manualFlows // flows that somebody added, by direction; nil until there are any
	sides   [2][]*Entry     // see sides
	sidesAt [2]time.Duration
	sidesOf [2]int
}

// silent reports whether the card answers nobody.
func (r *RNIC) silent() bool {
	return r.wedged() || r.link.downUntil > 0 || r.Host.downUntil > 0 || r.Host.crashing
}

// PortDown reports whether an operator has taken the port down.
func (r *RNIC) PortDown() bool { return r.portDownUntil > 0 }

// forwards reports whether packets can pass the card.
func (r *RNIC) forwards() bool { return !r.silent() && !r.PortDown() }

// DriverVersion is what the driver's module reports.
func (r *RNIC) DriverVersion() string {
	if r.FixedDriver {
		return r.Model.FixedDriver
	}
	return r.Model.DriverVersion
}

// Counters are the running totals of a port. Data in bytes on the wire.
type Counters struct {
	XmitBytes, RcvBytes, XmitPackets, RcvPackets float64
	XmitWait, OutOfSequence, PacketSeqErr        float64
	AckTimeouts, AdaptiveRetrans                 float64
	ECNMarked, CNPSent, CNPHandled               float64
	WriteRequests, ReadRequests                  float64
	ImpliedNaks, DuplicateRequests               float64 // of reads whose responses were lost, at the requester and at the responder
	AdaptiveTimeouts                             float64
	ReceiveErrors                                float64 // frames that came in with a wrong checksum
	Discards, OutOfBuffer                        float64 // packets without a place in the receive buffer, and in the one that software empties
	EngineDiscards                               float64 // of tenants' packets without a place in front of what their VFs share
	Pauses, PausedUs, NearlyFull                 float64 // of the wire, asked for by the receive buffer
}

// VFCounters are the totals of one VF, seen from the VF.
type VFCounters struct {
	XmitBytes, RcvBytes, XmitPackets, RcvPackets float64
	XmitDropped                                  float64 // sent by the VF, and lost for want of the host's CPU time, or by its own limit
	RcvDropped                                   float64 // for the VF, and lost for want of a place in what it shares with others
}

// Firmware is the version that the card reports.
func (r *RNIC) Firmware() string {
	switch {
	case r.EvictingFirmware:
		return r.Model.EvictingFW
	case r.FixedFirmware:
		return r.Model.FixedFW
	}
	return r.Model.Firmware
}

// Representor is the name of the netdev that stands for a VF in the switch.
func (r *RNIC) Representor(vf int) string { return fmt.Sprintf("enp%ds0f0r%d", r.bus(), vf) }

// VFNetdev is the name of the network device of a VF that no container has.
func (r *RNIC) VFNetdev(vf int) string { return fmt.Sprintf("enp%ds0f0v%d", r.bus(), vf) }

func (r *RNIC) bus() int {
	var bus int
	_, _ = fmt.Sscanf(r.PCI, "0000:%x:", &bus) // the engine made the address
	return bus
}

// VFAddress is the PCI address of a VF.
func (r *RNIC) VFAddress(vf int) string {
	function := r.Model.FirstVF + vf
	return fmt.Sprintf("0000:%02x:%02x.%d", r.bus(), function/8, function%8)
}

// Container is an end of connections: on a VF of a simulated RNIC, or outside the simulated fleet.
type Container struct {
	ID       string
	RNIC     *RNIC // nil outside
	VF       int
	VNI      int // of the first VXLAN network it is in
	IP       netip.Addr
	MAC      string
	external netip.Addr
	stopped  bool
	held     int // flows when it stopped, until its VF is released
	// Namespace, Pod and SLO are what Kubernetes and the CNI configuration say of a tenant's container; empty for those of jobs.
	Namespace, Pod, SLO string
	endsAt              time.Duration
}

func (c *Container) vtep() netip.Addr {
	if c.RNIC != nil {
		return c.RNIC.VTEP
	}
	return c.external
}

// freeVF is the number of the first VF without a container.
func (r *RNIC) freeVF() (int, bool) {
	for i, c := range r.VFs {
		if c == nil && !r.reserved(i) {
			return i, true
		}
	}
	return 0, false
}

func (r *RNIC) nextSourcePort() int {
	r.sourcePort = (r.sourcePort + 1) % 16384
	return 0xC000 + r.sourcePort // the range that RoCE v2 uses for entropy
}
