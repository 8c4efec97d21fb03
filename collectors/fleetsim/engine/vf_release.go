package engine

import (
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine/driverlog"
)

// The unbinding of VFs (paper, section 3.2 and Table 1, cause C7: a race while the RNIC cleans up allocated resources).
//
// When a container stops, its VF is unbound and the card releases what the VF held, longer the more flows it had. In a part of that
// time it works on lists that all VFs share. If two releases do so at once, the card falls off the PCIe bus. The link is
// trained again, at half its width and one generation below, and stays so until the host boots. Only the race and its effect are the
// paper's; times are assumed.
const (
	releaseBase    = 50 * time.Millisecond
	releasePerFlow = time.Millisecond
	criticalShare  = 0.1         // of the release
	teardownSpread = time.Second // containers that stop together are unbound within this time
	retrainingTime = 4 * time.Second
	narrowed       = 2 // the link comes back with this fraction of its lanes, and one generation slower
)

// release is the critical part of one VF's release.
type release struct{ from, to time.Duration }

// pciLink is the state of the card's PCIe link.
type pciLink struct {
	lostAt    time.Duration
	downUntil time.Duration // 0 when up
	degraded  bool
	fatal     int // surprise-down errors that AER has counted
}

// unbind begins the release of a VF that had so many flows, a while from now.
func (r *RNIC) unbind(now, after time.Duration, flows int) {
	duration := releaseBase + time.Duration(flows)*releasePerFlow
	begin := now + after + time.Duration(r.rng.Float64()*float64(duration))
	one := release{begin, begin + time.Duration(criticalShare*float64(duration))}
	kept := r.releases[:0]
	race := false
	for _, other := range r.releases {
		if other.to > now {
			kept = append(kept, other)
		}
		race = race || (one.from < other.to && other.from < one.to)
	}
	r.releases = append(kept, one)
	if race && r.link.downUntil == 0 {
		r.loseLink(now)
	}
}

func (r *RNIC) loseLink(now time.Duration) {
	r.link.lostAt, r.link.downUntil = now, now+retrainingTime
	r.link.fatal++
	r.logPort(now, driverlog.Error, "AER: Uncorrected (Fatal) error message received from "+r.PCI)
	r.logPort(now, driverlog.Info, "pciehp: Slot(1): Link Down")
	r.Host.logNow(now, r.logged().LinkError()...)
	r.reset()
}

// retrain brings a lost link back.
func (r *RNIC) retrain(now time.Duration) {
	if r.link.downUntil == 0 || now < r.link.downUntil {
		return
	}
	r.link.downUntil, r.link.degraded = 0, true
	r.logPort(now, driverlog.Info, "pciehp: Slot(1): Link Up")
	r.Host.logNow(now, r.logged().Say(driverlog.Info, r.bandwidthMessage()))
}
