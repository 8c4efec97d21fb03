package ovs_offload

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/influxdata/telegraf"

	"github.com/wallwatch/wallwatch/collectors/internal/ovs/dpctl"
	"github.com/wallwatch/wallwatch/collectors/internal/ovs/unixctl"
)

// sweepLooks are the revalidator's sweeps that were looked at since the gathering before. upcall/show reports the last sweep only, and deletions,
// which make a sweep long, come in clumps: who looks once in an interval may meet sweeps without them every time.
type sweepLooks struct {
	mu   sync.Mutex
	seen map[string]sweepTimes // by datapath
}

// sweepTimes are in ms.
type sweepTimes struct {
	looks     int
	sum, most float64
}

func (s *sweepLooks) note(datapaths []dpctl.Datapath) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen == nil {
		s.seen = make(map[string]sweepTimes, len(datapaths))
	}
	for i := range datapaths {
		if datapaths[i].DumpDurationMS == nil {
			continue
		}
		took := float64(*datapaths[i].DumpDurationMS)
		t := s.seen[datapaths[i].Name]
		t.looks++
		t.sum += took
		t.most = max(t.most, took)
		s.seen[datapaths[i].Name] = t
	}
}

// take returns the times of each datapath and starts again.
func (s *sweepLooks) take() map[string]sweepTimes {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := s.seen
	s.seen = nil
	return seen
}

// report adds the fields. One look alone is what dump_duration_ms says already.
func (t sweepTimes) report(fields map[string]any) {
	if t.looks < 2 {
		return
	}
	fields["dump_duration_mean_ms"] = round(t.sum / float64(t.looks))
	fields["dump_duration_max_ms"] = t.most
}

// Start implements telegraf.ServiceInput: it looks at the sweeps until Stop. Pauses are drawn at random around sweep_interval, so that they
// keep no step with what happens once a second.
func (p *Plugin) Start(telegraf.Accumulator) error {
	if p.SweepInterval <= 0 {
		return nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	p.stopLooking = func() { cancel(); <-ended }
	interval := time.Duration(p.SweepInterval)
	go func() {
		defer close(ended)
		for {
			select {
			case <-ctx.Done():
				return
			case <-time.After(interval/2 + rand.N(interval)): //nolint:gosec // G404: a pause, not a secret
				p.look(ctx)
			}
		}
	}()
	return nil
}

// Stop implements telegraf.ServiceInput.
func (p *Plugin) Stop() {
	if p.stopLooking != nil {
		p.stopLooking()
		p.stopLooking = nil
	}
}

// LookAtSweep reads once how long the last sweep of each datapath took. Whoever has another clock than the host's calls it in place of Start.
func (p *Plugin) LookAtSweep() { p.look(context.Background()) }

// look does not report a daemon that does not answer: the next gathering does.
func (p *Plugin) look(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(p.Timeout)/settingsShare)
	defer cancel()
	client, err := unixctl.Dial(ctx, p.Unixctl)
	if err != nil {
		return
	}
	defer func() { _ = client.Close() }()
	if answer, err := client.Call(ctx, "upcall/show"); err == nil {
		p.sweeps.note(dpctl.ParseUpcallShow(answer, nil))
	}
}
