package vf_traffic

import (
	"math"
	"time"
)

const (
	// quietInterval is the time between two messages of an RNIC that is in no doubt.
	quietInterval = 10 * time.Second
	// doubtLasts is how long an RNIC stays in doubt after the last reason: what breaks promises comes in bursts.
	doubtLasts = 60 * time.Second
	// step is the time between two gatherings, and so between two readings of an RNIC in doubt.
	step = time.Second
	// slack keeps the rhythm when a gathering comes a little early.
	slack = step / 2
	// longestStride is the most steps from one quiet reading to the next: each message is a reading.
	longestStride = int64(quietInterval / step)
	// weight is that of the newest reading in the mean cost: a burst of garbage collection does not change the rhythm, a host with more
	// functions does within seconds.
	weight = 0.2
)

// pace decides when an RNIC is read and when a message is due. The zero value has read nothing.
type pace struct {
	read, sent time.Time
	// cost is the mean CPU time of a reading.
	cost time.Duration
	// stride is how many steps lie between two readings while there is no doubt; it grows with what a reading costs.
	stride int64
	// unreported is the CPU time since the last message, and unreportedSince its time.
	unreported time.Duration
}

// due reports whether a time is at least an interval after another one. A clock that was set back makes everything due.
func due(at, last time.Time, interval time.Duration) bool {
	age := at.Sub(last)
	return last.IsZero() || age < 0 || age >= interval-slack
}

func (p *pace) readDue(at time.Time, inDoubt bool) bool {
	return inDoubt || p.sendDue(at) || due(at, p.read, time.Duration(max(p.stride, 1))*step)
}

func (p *pace) sendDue(at time.Time) bool { return due(at, p.sent, quietInterval) }

// spent notes what a reading cost. Readings of a calm RNIC become rarer where they would cost more than their budget for a second.
func (p *pace) spent(cost, budget time.Duration) {
	p.unreported += cost
	if p.cost == 0 {
		p.cost = cost
	} else {
		p.cost += time.Duration(weight * float64(cost-p.cost))
	}
	p.stride = min(max(int64((p.cost+budget-1)/budget), 1), longestStride)
}

// takeCost is the CPU time per second since the last message, in milliseconds; false for the first message.
func (p *pace) takeCost(at time.Time) (milliseconds float64, ok bool) {
	spent, seconds := p.unreported, at.Sub(p.sent).Seconds()
	p.unreported = 0
	if p.sent.IsZero() || seconds <= 0 {
		return 0, false
	}
	return math.Round(spent.Seconds()*1e6/seconds) / 1e3, true
}
