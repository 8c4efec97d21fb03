package ovs_offload

import "time"

// SetClock makes the input take its times from a clock that is not the host's: that of a host which is simulated faster than real time.
// Call it before Init.
func (p *Plugin) SetClock(now func() time.Time) { p.clock = now }
