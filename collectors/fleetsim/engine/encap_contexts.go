package engine

import (
	"net/netip"
	"time"
)

// The encapsulation buffer (paper, sections 3.2 and 4.2 "Action Lists and Resource Management", cause C8).
//
// Flows to one tunnel end point in one VXLAN network share an encapsulation context. The contexts live in a buffer of the card. When flows
// need one more than it holds, the firmware stops: it forwards nothing, answers no command and its health counter stands still. After a
// while the driver's health monitor resets the card, which empties it; if the load is the same, the buffer fills again.
const (
	// healthPeriod and healthMisses are how the driver watches the card (mlx5 polls every 2 s).
	healthPeriod = 2 * time.Second
	healthMisses = 3
	// recoveryAfter is an assumed time until the driver has reset a card that stopped.
	recoveryAfter = 60 * time.Second
)

// context is what an encapsulation header depends on.
type context struct {
	vni  int
	peer netip.Addr
}

func (e *Entry) context() context { return context{e.conn.vni, e.conn.dst.vtep()} }

// takeContext counts the entry's use of its context. It is false when the buffer is full, and the firmware has stopped.
func (r *RNIC) takeContext(e *Entry, now time.Duration) bool {
	if e.dir != Egress {
		return true
	}
	key := e.context()
	if r.contexts[key] == 0 && len(r.contexts) >= r.Model.Costs.EncapBuffer {
		r.wedgedAt, r.healthSaid = now, false
		return false
	}
	r.contexts[key]++
	return true
}

func (r *RNIC) releaseContext(e *Entry) {
	if e.dir != Egress {
		return
	}
	key := e.context()
	if r.contexts[key]--; r.contexts[key] <= 0 {
		delete(r.contexts, key)
	}
}

func (r *RNIC) wedged() bool { return r.wedgedAt > 0 }

// watchHealth is the driver's health monitor.
func (r *RNIC) watchHealth(now time.Duration) {
	if !r.wedged() {
		return
	}
	stopped := now - r.wedgedAt
	if !r.healthSaid && stopped >= healthMisses*healthPeriod {
		r.healthSaid = true
		r.health.Failed, r.health.Errors = true, r.health.Errors+1
		r.Host.logNow(now, r.logged().Unhealthy()...)
	}
	if stopped >= recoveryAfter {
		r.recover(now)
	}
}

// Health is the state of the driver's reporter of fatal errors.
type Health struct {
	Failed             bool
	Errors, Recoveries int // since the driver was loaded
}

// Health is the present state of the card's firmware as its driver sees it.
func (r *RNIC) Health() Health { return r.health }

// recover resets the card, which empties it.
func (r *RNIC) recover(now time.Duration) {
	r.reset()
	r.Host.logNow(now, r.logged().Reset()...)
	if r.health.Failed {
		r.health.Failed = false
		r.health.Recoveries++
	}
}
