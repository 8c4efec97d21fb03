package vswitch

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine"
)

// counter is one of those that ovs-vswitchd counts events with; of is nil for an event that no mechanism of the simulator causes.
type counter struct {
	name string
	of   func(engine.Events) uint64
}

var counters = []counter{
	{"dpif_execute", func(e engine.Events) uint64 { return e.Executed }},
	{"dpif_flow_del", func(e engine.Events) uint64 { return e.Deleted }},
	{"dpif_flow_del_error", nil},
	{"dpif_flow_put", func(e engine.Events) uint64 { return e.Inserted }},
	{"dpif_flow_put_error", nil},
	{"handler_duplicate_upcall", nil},
	{"revalidate_missed_dp_flow", func(e engine.Events) uint64 { return e.FlowsMissing }},
	{"upcall_flow_limit_hit", func(e engine.Events) uint64 { return e.FlowLimitReached }},
}

func (c counter) total(e engine.Events) uint64 {
	if c.of == nil {
		return 0
	}
	return c.of(e)
}

// coverage prints "coverage/show": mean rates over three times and the total of each event that ever happened.
func (s *Server) coverage(out *bytes.Buffer, _ []string) {
	s.Engine.View(func(time.Duration) {
		sw := &s.Host.Switch
		now, recent, minute, hour := sw.Events(), sw.EventsBefore(5*time.Second), sw.EventsBefore(time.Minute), sw.EventsBefore(time.Hour)
		out.WriteString("Event coverage, avg rate over last: 5 seconds, last minute, last hour,  hash=5f1ee7c0:\n")
		silent := 0
		for _, c := range counters {
			total := c.total(now)
			if total == 0 {
				silent++
				continue
			}
			rate := func(before engine.Events, seconds float64) float64 { return float64(total-c.total(before)) / seconds }
			fmt.Fprintf(out, "%-24s %5.1f/sec %9.3f/sec %13.4f/sec   total: %d\n", c.name, rate(recent, 5), rate(minute, 60), rate(hour, 3600), total)
		}
		fmt.Fprintf(out, "%d events never hit\n", silent)
	})
}

// readCounter answers "coverage/read-counter NAME": the total, also of an event that never happened.
func (s *Server) readCounter(args []string) ([]byte, error) {
	if len(args) != 1 {
		return nil, errors.New(`"coverage/read-counter" command requires at least 1 arguments`)
	}
	for _, c := range counters {
		if c.name == args[0] {
			var total uint64
			s.Engine.View(func(time.Duration) { total = c.total(s.Host.Switch.Events()) })
			return fmt.Appendf(nil, "%d\n", total), nil
		}
	}
	return nil, errors.New("No such counter") //nolint:staticcheck // Open vSwitch's own words
}
