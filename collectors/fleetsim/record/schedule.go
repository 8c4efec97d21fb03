package record

import (
	"math/rand/v2"
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine"
)

// DefaultJitter keeps samples out of step with what happens in the fleet once a second.
const DefaultJitter = time.Second

// schedule is when a host's collector reads. Times are drawn from the seed, in steps of the engine.
type schedule struct {
	random           *rand.Rand
	interval, jitter time.Duration
	// nominal is the time of the next sample without its jitter.
	nominal, sample time.Duration
	// look is the next look at the revalidator's last sweep, once in each second.
	look time.Duration
}

func newSchedule(o *Options, seed uint64, host int) *schedule {
	s := &schedule{random: rand.New(rand.NewPCG(seed, uint64(host))), interval: o.Interval, jitter: o.Jitter} //nolint:gosec // G404, G115: repeatable on purpose
	s.next()
	return s
}

func (s *schedule) next() {
	s.nominal += s.interval
	s.sample = s.nominal + s.draw(s.jitter)
}

// draw returns a whole number of the engine's steps below a limit.
func (s *schedule) draw(limit time.Duration) time.Duration {
	if limit < engine.MaxStep {
		return 0
	}
	return engine.MaxStep * time.Duration(s.random.Int64N(int64(limit/engine.MaxStep)))
}

// due is asked once for each step, in order of time.
func (s *schedule) due(at time.Duration) (sample, look bool) {
	if sample = at >= s.sample; sample {
		s.next()
	}
	if look = at >= s.look; look {
		s.look = (at/time.Second+1)*time.Second + s.draw(time.Second)
	}
	return sample, look
}
