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
	// noiseWeight is the weight of the newest change in what is usual for a noisy signal.
	noiseWeight = 0.1
	// outlier is how many times its usual change a noisy signal has to change by for a jump.
	outlier = 6
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
	// noise is the usual change from one sample to the next without its sign, trend the usual change per second with it.
	// Both are for noisy signals only; learnt is set once there was a change to learn from.
	noise, trend float64
	learnt       bool
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
		change := (s.Value - m.value) / s.Scale
		fresh := math.Abs(change) / elapsed
		if s.Noisy {
			fresh = m.beyondNoise(change, elapsed)
		}
		// Nothing is faster than the whole scale in a second, and a jump is forgotten in minutes, however far it went.
		m.speed = math.Max(remembered, math.Min(1, fresh))
	}
	m.value, m.at, m.wall, m.level = s.Value, at, s.Wall, s.Value/s.Scale
}

// beyondNoise is the speed that is left of a change without the noise. Noise goes up and down, so its trend is far smaller
// than its changes, and the result is 0; of a steady climb both are the same, and the result is its speed. A change far
// beyond the usual is a jump, and counts whole.
func (m *motion) beyondNoise(change, elapsed float64) float64 {
	usual, size := m.noise, math.Abs(change)
	if !m.learnt {
		m.noise, m.learnt = size, true
		return 0
	}
	m.noise += noiseWeight * (size - m.noise)
	m.trend += noiseWeight * (change/elapsed - m.trend)
	if size > outlier*usual {
		return size / elapsed
	}
	return math.Max(0, 2*math.Abs(m.trend)-m.noise/elapsed)
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
