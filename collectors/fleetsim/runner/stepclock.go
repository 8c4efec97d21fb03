package runner

import (
	"sync/atomic"
	"time"
)

// longestPause is the real time that one step catches up on at most.
const longestPause = 2 * time.Second

// stepClock is the virtual time between two steps of the engine. A switch whose clock stood still for half a second would print idle times that
// no real one prints: those who read them know when they asked.
type stepClock struct {
	speed float64
	last  atomic.Pointer[stepTime]
}

// stepTime is when a step was due, in real and in virtual time.
type stepTime struct {
	real    time.Time
	virtual time.Duration
}

func (c *stepClock) start(now time.Time, speed float64) {
	c.speed = speed
	c.last.Store(&stepTime{real: now})
}

// advance is called before the engine takes a step. While the step is being computed the clock may be ahead of the engine, never behind it.
func (c *stepClock) advance(now time.Time, step time.Duration) {
	c.last.Store(&stepTime{real: now, virtual: c.last.Load().virtual + step})
}

// now is the virtual time; 0 before the first step.
func (c *stepClock) now() time.Duration { return c.at(time.Now()) }

func (c *stepClock) at(now time.Time) time.Duration {
	last := c.last.Load()
	if last == nil {
		return 0
	}
	return last.virtual + time.Duration(float64(min(now.Sub(last.real), longestPause))*c.speed)
}
