package record

import (
	"sync/atomic"
	"time"
)

// clock shows the time of the simulated fleet.
type clock struct {
	start time.Time
	since atomic.Int64
}

func (c *clock) set(virtual time.Duration) { c.since.Store(int64(virtual)) }

// at is a time of the engine as time of day.
func (c *clock) at(virtual time.Duration) time.Time { return c.start.Add(virtual) }

func (c *clock) now() time.Time { return c.at(time.Duration(c.since.Load())) }
