package truth

import (
	"math"
	"slices"
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine"
)

// Who breaks whom, second by second: what is shared by the VFs of a card was overloaded, a tenant that kept to its promise lost packets or waited
// because of that, and somebody took more than its share.

// Mechanism is what was overloaded.
type Mechanism string

// The mechanisms, in the words that detectors use.
const (
	PacketRate Mechanism = "ingress packet rate"
	Bandwidth  Mechanism = "ingress bandwidth"
	EgressFull Mechanism = "egress buffer"
	PCIe       Mechanism = "pcie"
	CPU        Mechanism = "cpu"
)

const (
	second = time.Second
	// harmfulLoss is the share of a VF's packets whose loss breaks a promise that names no loss.
	harmfulLoss = 0.001
	// heldShare is the share of what a VF wants to send that must be held for a broken second.
	heldShare = 0.01
	// calmP50Us and calmP99Us are the round trips through a calm card (engine/probes.go).
	calmP50Us, calmP99Us = 12.0, 17.0
	// beyond is how far above its envelope or its share a VF must be to count as above it: loads swing by a few percent.
	beyond = 1.05
	// briefly is an overload shorter than a good look at it: an expert would contradict neither who reports that second nor who does not.
	briefly = 200 * time.Millisecond
	// unpromised is the weight of a VF without a promise, as share of the card's line rate.
	unpromised = 1.0 / 16
)

// Breakage is one second in which tenants of a card were harmed by others. VFs by number.
type Breakage struct {
	RNIC                *engine.RNIC
	From, To, Judged    time.Duration
	Mechanism           Mechanism
	Victims, Aggressors []int
	Marginal            bool
}

// The shared parts of a card.
const (
	ingress = iota
	pcie
	cpu
	egress
	parts
)

// vfSecond is what a VF asked for and suffered in a second.
type vfSecond struct {
	last                engine.VFShare
	received, receivedB float64 // packets and bytes that were for the VF
	sent, sentB         float64 // that it wanted to send
	lost                [parts]float64
	held                float64
	shaped              bool
	asked               [parts]float64 // of a part, in seconds of it, while that was overloaded
	packets             float64        // of the engine's, for packets as such
	waits               [parts][]float64
}

// cardSecond is the second that is under way on a card.
type cardSecond struct {
	from time.Duration
	over [parts]time.Duration
	vfs  []vfSecond
}

// isolation judges the seconds of all cards with tenants.
type isolation struct {
	cards map[*engine.RNIC]*cardSecond
	found []Breakage
}

// VFsServed adds a short step to its second.
func (j *Judge) VFsServed(r *engine.RNIC, report engine.VFReport) {
	if j.isolation.cards == nil {
		j.isolation.cards = map[*engine.RNIC]*cardSecond{}
	}
	c := j.isolation.cards[r]
	if c == nil || report.From.Truncate(second) != c.from {
		if c != nil {
			j.isolation.found = append(j.isolation.found, c.judge(r)...)
		}
		c = &cardSecond{from: report.From.Truncate(second), vfs: make([]vfSecond, len(report.VFs))}
		j.isolation.cards[r] = c
	}
	c.add(report)
}

// date says when breakages became known: at the end of the step.
func (i *isolation) date(now time.Duration) {
	for at := range i.found {
		if i.found[at].Judged == 0 {
			i.found[at].Judged = now
		}
	}
}

// TakeBreakages returns the broken seconds that were judged since the last call. Call it between steps.
func (j *Judge) TakeBreakages() []Breakage {
	taken := j.isolation.found
	j.isolation.found = nil
	return taken
}

func (c *cardSecond) add(report engine.VFReport) {
	length := report.To - report.From
	over := [parts]bool{}
	switch l := report.Load; {
	case l.PCIe > 1 && l.PCIe > l.Engine():
		over[pcie] = true
	case l.Engine() > 1:
		over[ingress] = true
	}
	over[cpu], over[egress] = report.CPULoad > 1, report.Load.SendBlocked > 0
	for part := range over {
		if over[part] {
			c.over[part] += length
		}
	}
	for vf, share := range report.VFs {
		c.vfs[vf].add(report, share, over, length.Seconds())
	}
}

func (v *vfSecond) add(report engine.VFReport, share engine.VFShare, over [parts]bool, seconds float64) {
	d, card := share.Demand, report.Card
	v.last = share
	v.received += d.Receive * seconds
	v.receivedB += d.Receive * d.ReceiveSize * seconds
	v.sent += d.Send * seconds
	v.sentB += d.Send * d.SendSize * seconds
	v.held += share.Service.Held
	v.shaped = v.shaped || d.SlowedByShaper()
	if over[ingress] {
		v.lost[ingress] += share.Service.Discarded
		v.packets += d.Receive / card.PacketRate * seconds
		v.asked[ingress] += d.Receive * card.EngineTime(d.ReceiveSize) * seconds
	}
	if over[pcie] {
		v.lost[pcie] += share.Service.Discarded
		v.asked[pcie] += d.Receive * card.PCIeTime(d.ReceiveSize) * seconds
	}
	if over[cpu] && share.Kernel {
		v.lost[cpu] += share.CPU.Dropped
		v.asked[cpu] += share.Service.Received // of all of them, scaled in judge
	}
	if over[egress] {
		v.asked[egress] += d.Send * d.SendSize / card.SendRate * seconds
	}
	receiving := ingress
	if over[pcie] {
		receiving = pcie
	}
	v.waits[receiving] = append(v.waits[receiving], share.Service.ReceiveWait*1e6)
	v.waits[egress] = append(v.waits[egress], share.Service.SendWait*1e6)
	if share.Kernel {
		v.waits[cpu] = append(v.waits[cpu], share.CPU.Wait*1e6)
	}
}

// judge closes a second.
func (c *cardSecond) judge(r *engine.RNIC) (found []Breakage) {
	for part, over := range c.over {
		if over == 0 {
			continue
		}
		fair, asked := c.fairShares(r, part)
		aggressors := c.aggressors(part, fair, asked)
		var victims []int
		for vf := range c.vfs {
			if !slices.Contains(aggressors, vf) && asked[vf] <= beyond*fair[vf] && c.vfs[vf].harmed(part) {
				victims = append(victims, vf)
			}
		}
		if len(victims) == 0 || len(aggressors) == 0 {
			continue
		}
		found = append(found, Breakage{RNIC: r, From: c.from, To: c.from + second, Mechanism: c.mechanism(part, aggressors),
			Victims: victims, Aggressors: aggressors, Marginal: over < briefly})
	}
	return found
}

func (c *cardSecond) mechanism(part int, aggressors []int) Mechanism {
	switch part {
	case pcie:
		return PCIe
	case cpu:
		return CPU
	case egress:
		return EgressFull
	}
	packets, all := 0.0, 0.0
	for _, vf := range aggressors {
		packets += c.vfs[vf].packets
		all += c.vfs[vf].asked[ingress]
	}
	if packets > all/2 {
		return PacketRate
	}
	return Bandwidth
}

// harmed reports whether a VF with a promise, which kept inside its envelope, lost packets or waited because of an overloaded part.
func (v *vfSecond) harmed(part int) bool {
	p := v.last.Promise
	if !p.Promised() || v.last.Container == nil || v.shaped {
		return false
	}
	limit := p.MaxMbps * 1e6 / 8 * beyond
	if v.receivedB > limit || v.sentB > limit {
		return false
	}
	switch {
	case part == egress && v.sent > 0 && v.held > heldShare*v.sent:
		return true
	case part != egress && v.received > 0 && v.lost[part] > math.Max(harmfulLoss, p.Loss)*v.received:
		return true
	}
	return v.received+v.sent > 0 && len(v.waits[part]) > 0 && v.late(part)
}

// late reports whether packets waited longer than promised.
func (v *vfSecond) late(part int) bool {
	p := v.last.Promise
	waits := slices.Sorted(slices.Values(v.waits[part]))
	p50, p99 := waits[len(waits)/2], waits[len(waits)*99/100]
	return p.P50Us > 0 && calmP50Us+p50 > p.P50Us || p.P99Us > 0 && calmP99Us+p99 > p.P99Us
}
