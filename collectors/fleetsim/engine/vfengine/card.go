// Package vfengine is what the virtual functions of one card share, and where one tenant's packets can therefore harm another's (PicNIC,
// SIGCOMM 2019, section 2): the engine behind the receive queue, which spends time on each packet and on each byte; the PCIe link behind
// it; the send buffer, which is emptied in order; and, for functions whose packets the host's CPU handles, the time of its soft interrupts.
//
// It is arithmetic on fluids in short steps: it knows no clock, no file, no tenant and no promise, and nothing in it is random.
package vfengine

import (
	"math"
	"time"
)

// MaxStep is the longest time that the arithmetic takes in one go: queues of a card fill and empty within milliseconds.
const MaxStep = 10 * time.Millisecond

// Card is what the functions of one card share. Rates are per second, sizes in bytes.
type Card struct {
	// PacketRate is what the engine forwards of packets without bytes, ByteRate of bytes without packets: a packet takes
	// 1/PacketRate + size/ByteRate seconds of it.
	PacketRate, ByteRate float64
	// QueuePackets and QueueBytes are the places of the receive queue. What finds none is discarded.
	QueuePackets, QueueBytes float64
	// PCIeRate is what the link to the host's memory carries, in bytes.
	PCIeRate float64
	// SendPlaces is the number of packets that the send buffer holds. It is emptied in order, so packets that wait for their function's
	// shaper keep places from everybody.
	SendPlaces float64
	// SendRate is what the card sends, in bytes.
	SendRate float64

	functions []function
}

// function is what the card holds of one virtual function.
type function struct {
	queued     float64 // packets in the receive queue
	queuedSize float64 // mean size of them
	shaped     float64 // packets in the send buffer that wait for their shaper
}

// Demand is what one function would like to do, as rates of packets and the sizes of these.
type Demand struct {
	Receive, ReceiveSize float64
	Send, SendSize       float64
	// Shaper is the rate in bytes at which the host's shaper lets the function's packets leave the send buffer; 0 without one.
	Shaper float64
	// Guaranteed is the rate in bytes that the card sends of the function before it shares the rest of its SendRate; 0 without a guarantee.
	Guaranteed float64
}

// Service is what came of a demand in a step, in packets.
type Service struct {
	Received, Discarded float64
	Sent                float64
	// Held is what found no place in the send buffer: the sender keeps it.
	Held float64
	// ReceiveWait and SendWait are how long a packet that came now would wait, in seconds, the service of others included.
	ReceiveWait, SendWait float64
	// Shaped is how many packets wait in the send buffer for the function's shaper.
	Shaped float64
}

// Load is how much of each shared part a step's demands asked for; 1 is all of it.
type Load struct {
	// Packets and Bytes are the parts of the engine's time that go to packets as such and to their bytes.
	Packets, Bytes float64
	PCIe           float64
	// SendBlocked is the share of what wanted to be sent that the send buffer had no place for.
	SendBlocked float64
	// Stalled is the part of the step in which writes over PCIe had to wait.
	Stalled float64
}

// Engine is the load of the engine behind the receive queue.
func (l Load) Engine() float64 { return l.Packets + l.Bytes }

// completionBytes is what each received packet takes of the PCIe link besides its own bytes: headers of its writes and its completion.
// Assumed.
const completionBytes = 64

// EngineTime is what a packet takes of the engine, in seconds.
func (c *Card) EngineTime(size float64) float64 { return 1/c.PacketRate + size/c.ByteRate }

// PCIeTime is what a received packet takes of the link.
func (c *Card) PCIeTime(size float64) float64 { return (size + completionBytes) / c.PCIeRate }

// Step serves the demands of all functions, by number, for dt of at most MaxStep.
func (c *Card) Step(demands []Demand, dt time.Duration, out []Service) Load {
	for len(c.functions) < len(demands) {
		c.functions = append(c.functions, function{})
	}
	clear(out)
	seconds := dt.Seconds()
	load := c.receive(demands, seconds, out)
	load.SendBlocked = c.send(demands, seconds, out)
	return load
}

// receive serves the queue in front of the engine and the link in the order of arrival: within a step packets of all functions are mixed.
func (c *Card) receive(demands []Demand, seconds float64, out []Service) Load {
	var load Load
	var engine, pcie, arrived float64
	for i, d := range demands {
		f := &c.functions[i]
		packets := d.Receive * seconds
		arrived += packets
		load.Packets += d.Receive / c.PacketRate
		load.Bytes += d.Receive * d.ReceiveSize / c.ByteRate
		load.PCIe += d.Receive * c.PCIeTime(d.ReceiveSize)
		if total := f.queued + packets; total > 0 {
			f.queuedSize = (f.queued*f.queuedSize + packets*d.ReceiveSize) / total
		}
		f.queued += packets
		engine += f.queued * c.EngineTime(f.queuedSize)
		pcie += f.queued * c.PCIeTime(f.queuedSize)
	}
	served := math.Min(1, seconds/math.Max(math.Max(engine, pcie), seconds))
	if pcie > seconds && pcie >= engine {
		load.Stalled = 1 - seconds/pcie
	}
	var packets, bytes float64
	for i := range demands {
		f := &c.functions[i]
		out[i].Received = f.queued * served
		f.queued -= out[i].Received
		packets += f.queued
		bytes += f.queued * f.queuedSize
	}
	kept := 1.0
	if packets > 0 {
		kept = math.Min(1, math.Min(c.QueuePackets/packets, c.QueueBytes/math.Max(bytes, 1)))
	}
	c.discard(demands, (1-kept)*packets, arrived, seconds, out)
	wait := c.queueTime(len(demands))
	for i, d := range demands {
		out[i].ReceiveWait = wait + c.EngineTime(d.ReceiveSize) + c.busyWait(load)
	}
	return load
}

// discard throws away so many packets of those that arrived, from each function as many as it has of the arrivals.
func (c *Card) discard(demands []Demand, excess, arrived, seconds float64, out []Service) {
	for excess > 1e-9 && arrived > 0 {
		share := excess / arrived
		thrown, left := 0.0, 0.0
		for i, d := range demands {
			f := &c.functions[i]
			lost := math.Min(f.queued, d.Receive*seconds*share)
			f.queued -= lost
			out[i].Discarded += lost
			thrown += lost
			if f.queued > 0 {
				left += d.Receive * seconds
			}
		}
		if thrown == 0 {
			return
		}
		excess, arrived = excess-thrown, left
	}
}

// queueTime is how long what is in the receive queue will take.
func (c *Card) queueTime(functions int) float64 {
	var engine, pcie float64
	for i := range functions {
		f := &c.functions[i]
		engine += f.queued * c.EngineTime(f.queuedSize)
		pcie += f.queued * c.PCIeTime(f.queuedSize)
	}
	return math.Max(engine, pcie)
}

// busyWait is what a packet waits for others although the queue does not fill: arrivals at random and a service of about fixed length (M/D/1).
func (c *Card) busyWait(load Load) float64 {
	u := math.Min(math.Max(load.Engine(), load.PCIe), 0.99)
	return u / (2 * (1 - u)) / c.PacketRate
}
