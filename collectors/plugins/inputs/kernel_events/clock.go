package kernel_events

import (
	"time"

	"github.com/wallwatch/wallwatch/collectors/internal/kmsg"
)

// SetClock makes the input take its times from a clock that is not the host's: that of a host which is simulated faster than real time.
// The log has to be a file then, whose modification time is when its last record was written. Call it before Init.
func (p *Plugin) SetClock(now func() time.Time) {
	p.clock = kmsg.Clock{Now: now, SinceBoot: func() time.Duration { return 0 }}
}
