package cadence

import (
	"math"
	"time"
)

const (
	// memory is the time in which a remembered speed falls to a third, in seconds.
	memory = 60.0
	// creep is added to every speed: what stands still may still begin to move. In shares of the scale per second it is a
	// wall in 39 days.
	creep = 3e-7
	// leastHeadroom bounds the weight of a wall that has been reached.
	leastHeadroom = 0.1
	// nearWall is the weight at half the headroom: from here on an interval is explained by the wall.
	nearWall = 4
)

// motion is what is known of one signal.
type motion struct {
	name  string
	value float64
	wall  bool
	// level is the value's share of the scale, speed how much of the scale it covers in a second.
	level, speed float64
	at           time.Time
}

// observe updates the motion of every signal; one that is no longer reported is forgotten.
func (c *Controller) observe(at time.Time, signals []Signal) {
	current := make(map[string]*motion, len(signals))
	for _, s := range signals {
		if s.Scale <= 0 || math.IsNaN(s.Value) || math.IsInf(s.Value, 0) {
			continue
		}
		m := c.signals[s.Name]
		if m == nil {
			m = &motion{name: s.Name, value: s.Value, at: at}
		}
		m.step(s, at)
		current[s.Name] = m
	}
	c.signals = current
}

func (m *motion) step(s Signal, at time.Time) {
	if elapsed := at.Sub(m.at).Seconds(); elapsed > 0 {
		remembered := m.speed * math.Exp(-elapsed/memory)
		// Nothing is faster than the whole scale in a second, and a jump is forgotten in minutes, however far it went.
		m.speed = math.Max(remembered, math.Min(1, math.Abs(s.Value-m.value)/s.Scale/elapsed))
	}
	m.value, m.at, m.wall, m.level = s.Value, at, s.Wall, s.Value/s.Scale
}

// weightAt is how much a change weighs after some seconds: one over the square of the headroom that is left then. Which
// way a signal will go is not known, so it is taken to go towards the wall.
func (m *motion) weightAt(after float64) float64 {
	if !m.wall {
		return 1
	}
	headroom := math.Max(leastHeadroom, 1-m.level-m.speed*after)
	return 1 / math.Min(1, headroom*headroom)
}

// urgency is how fast the signal leaves behind what was last seen of it, after some seconds.
func (m *motion) urgency(after float64) float64 { return (m.speed + creep) * m.weightAt(after) }
