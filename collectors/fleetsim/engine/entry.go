package engine

import (
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine/maskchain"
	"github.com/wallwatch/wallwatch/collectors/fleetsim/flowkey"
)

// Direction of a flow entry: encapsulation or decapsulation side.
type Direction int

// The two flow tables of an eSwitch.
const (
	Egress Direction = iota
	Ingress
)

type entryState int

const (
	absent    entryState = iota // packets miss and go to an upcall
	inserting                   // the insertion waits for the firmware
	installed                   // forwards in hardware and is in the dump
	deleting                    // the deletion waits for the firmware; still forwards
)

// Entry is a datapath flow on one RNIC in one direction.
type Entry struct {
	rnic  *RNIC
	dir   Direction
	conn  *connection
	mask  int
	state entryState
	group *maskchain.Group
	index int // in rnic.entries

	// hardware's own counters, and what software saw of them at their last refresh
	hwPackets, hwBytes     float64
	seenPackets, seenBytes uint64
	lastUsed               time.Duration
	counter                int // its number on the card

	set               int  // of the firmware's index
	hashed, unnoticed bool // has a set; is gone from the card, which the switch does not know yet
	lostAt            time.Duration

	suspended, restoring bool          // the kernel has taken the connection out of the hardware, or is putting it back
	copy                 *softwareCopy // the same flow in the software datapath, if there is one

	head, tail []byte // constant parts of the dump line, made when first asked for

	manual      *manualFlow    // for a flow that somebody added
	covered     []*Entry       // flows that somebody added for packets of this one
	misdirected bool           // somebody gave it other actions
	words       *flowkey.Words // header of its packets, made when first asked for
}

func (e *Entry) inHardware() bool {
	return (e.state == installed || e.state == deleting) && !e.suspended
}

// connection is one direction of traffic between two containers: an egress entry at the sender's RNIC and an ingress
// entry at the receiver's.
type connection struct {
	src, dst   *Container
	egress     *Entry // nil where the sender is outside the simulated fleet
	ingress    *Entry // nil where the receiver is
	vni        int
	sourcePort int
	packetSize float64 // bytes of an inner frame
	demandGbps float64
	rateGbps   float64
	queuePairs float64       // for each that others have for the same demand
	carry      float64       // part of a packet that is still to come
	burst      time.Duration // it sends for so long, and then rests; 0 without a pause
	rest       time.Duration
	phase      time.Duration
	endsAt     time.Duration
	ended      bool
}

// resting reports whether the connection has nothing to send for a while.
func (c *connection) resting(now time.Duration) bool {
	return c.burst > 0 && (now+c.phase)%(c.burst+c.rest) >= c.burst
}

func (c *connection) offloaded() bool {
	return (c.egress == nil || c.egress.served()) && (c.ingress == nil || c.ingress.served())
}

// copied reports whether software has a flow wherever hardware does not forward.
func (c *connection) copied() bool {
	return (c.egress == nil || c.egress.served() || c.egress.copy != nil) && (c.ingress == nil || c.ingress.served() || c.ingress.copy != nil)
}

func (c *connection) gone() bool {
	return c.ended && (c.egress == nil || c.egress.state == absent) && (c.ingress == nil || c.ingress.state == absent)
}

// positions are the mask lookups that a packet meets at the sender and at the receiver.
func (c *connection) positions() (ql, qr float64) {
	return c.egress.position(), c.ingress.position()
}

// position is the place in the chain of the mask that has the entry's packets.
func (e *Entry) position() float64 {
	if e == nil {
		return 0
	}
	if len(e.covered) > 0 {
		if f := e.forwarder(); f != nil {
			return float64(f.group.Position)
		}
	}
	if e.group == nil {
		return 0
	}
	return float64(e.group.Position)
}
