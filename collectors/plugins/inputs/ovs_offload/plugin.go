// Package ovs_offload is the Telegraf input that reads from Open vSwitch what it has offloaded to the RNICs of a host.
package ovs_offload

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/influxdata/telegraf"
	"github.com/influxdata/telegraf/config"
	"github.com/influxdata/telegraf/plugins/inputs"

	"github.com/wallwatch/wallwatch/collectors/internal/cputime"
	"github.com/wallwatch/wallwatch/collectors/internal/event"
	"github.com/wallwatch/wallwatch/collectors/internal/ovs/tc"
	"github.com/wallwatch/wallwatch/collectors/internal/sysfs"
)

//go:embed sample.conf
var sampleConfig string

// Plugin is the configuration and the state between two gatherings.
type Plugin struct {
	Unixctl         string          `toml:"unixctl"`
	OVSDB           string          `toml:"ovsdb"`
	SysfsRoot       string          `toml:"sysfs_root"`
	MaskInterval    config.Duration `toml:"mask_interval"`
	PeerInterval    config.Duration `toml:"peer_interval"`
	EmptyMaskLinger config.Duration `toml:"empty_mask_linger"`
	TCOrder         bool            `toml:"tc_order"`
	TCAuditInterval config.Duration `toml:"tc_audit_interval"`
	FlowEventLimit  int             `toml:"flow_event_limit"`
	SweepInterval   config.Duration `toml:"sweep_interval"`
	Timeout         config.Duration `toml:"timeout"`

	Log telegraf.Logger `toml:"-"`

	surveyor surveyor
	tracker  *tracker
	events   event.Emitter
	sweeps   sweepLooks
	coverage coverage
	// process is the daemon of the gathering before.
	process process
	// tc is nil where the order of masks is not to be asked from the kernel.
	tc       prioritySource
	tcFailed bool
	orphans  orphans
	// down is set after Open vSwitch could not be read, until it can be again.
	down          bool
	settingsKnown bool
	masksReported time.Time
	peersReported time.Time
	// stopLooking ends what Start has started.
	stopLooking func()
	// clock is the host's clock, with Go's monotonic reading, and cpu measures work; tests replace both.
	clock func() time.Time
	cpu   func(work func()) time.Duration
	// doubting is set while flows have counts of packets that cannot be true.
	doubting bool
}

// process is one life of ovs-vswitchd: after a restart the socket may have the same name, the process has another id.
type process struct {
	socket string
	pid    int
}

// SampleConfig implements telegraf.PluginDescriber.
func (*Plugin) SampleConfig() string { return sampleConfig }

// Init checks the configuration and connects to nothing.
func (p *Plugin) Init() error {
	if p.Unixctl == "" {
		return errors.New("unixctl is empty: give the path or pattern of ovs-vswitchd's control socket")
	}
	for name, value := range map[string]config.Duration{"mask_interval": p.MaskInterval, "timeout": p.Timeout} {
		if value <= 0 {
			return fmt.Errorf("%s must be a positive duration, not %s", name, time.Duration(value))
		}
	}
	for name, value := range map[string]config.Duration{
		"peer_interval": p.PeerInterval, "sweep_interval": p.SweepInterval, "empty_mask_linger": p.EmptyMaskLinger, "tc_audit_interval": p.TCAuditInterval,
	} {
		if value < 0 {
			return fmt.Errorf("%s cannot be negative: %s", name, time.Duration(value))
		}
	}
	if p.TCOrder && p.tc == nil {
		p.tc = tc.Kernel{}
	}
	if p.TCOrder && p.TCAuditInterval > 0 && p.orphans.kernel == nil {
		p.orphans.kernel = realKernel{}
	}
	if p.FlowEventLimit < 0 {
		return fmt.Errorf("flow_event_limit cannot be negative: %d", p.FlowEventLimit)
	}
	if p.clock == nil {
		p.clock = time.Now
	}
	if p.cpu == nil {
		p.cpu = cputime.Of
	}
	p.surveyor.root = sysfs.Root{Path: p.SysfsRoot}
	p.tracker = newTracker(time.Duration(p.EmptyMaskLinger), p.clock())
	p.tracker.events.limit = p.FlowEventLimit
	p.settingsKnown = true
	return nil
}

// Gather reads Open vSwitch once. What cannot be read is not reported, and the state is kept.
func (p *Plugin) Gather(acc telegraf.Accumulator) error {
	// Telegraf would round times to the interval otherwise.
	acc.SetPrecision(time.Nanosecond)
	started := p.clock()
	var seen *switchState
	var maxIdle *time.Duration
	var err error
	cost := p.cpu(func() { seen, maxIdle, err = p.read(acc, started) })
	costs := map[string]any{"collect_cpu_ms": round(cost.Seconds() * 1000)}
	if err != nil {
		if seen != nil {
			acc.AddError(errors.Join(seen.refusals...))
			p.emitDatapaths(acc, seen, maxIdle, started, costs)
			err = fmt.Errorf("dumping its flows: %w", err)
		}
		p.unreachable(acc, err)
		return err
	}
	p.reachable(acc)
	acc.AddError(errors.Join(seen.refusals...))
	maps.Copy(costs, p.audit(acc, started))
	p.emit(acc, seen, maxIdle, started, costs)
	return nil
}

// read asks everybody once. With an error it returns the datapaths without their flows.
func (p *Plugin) read(acc telegraf.Accumulator, started time.Time) (*switchState, *time.Duration, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(p.Timeout))
	defer cancel()

	topology, err := p.surveyor.survey(started)
	if err != nil {
		acc.AddError(err)
	}
	if topology != nil {
		p.tracker.setTopology(topology)
	}
	maxIdle, settingsErr := p.maxIdle(ctx)
	if settingsErr != nil {
		// Only max_idle_ms is lost.
		if p.settingsKnown {
			p.Log.Warnf("max_idle_ms is missing from now on: %v", settingsErr)
		}
		p.settingsKnown = false
	} else {
		p.settingsKnown = true
	}

	seen, err := p.readSwitch(ctx)
	return seen, maxIdle, err
}

func (p *Plugin) unreachable(acc telegraf.Accumulator, err error) {
	if !p.down {
		p.events.Emit(acc, p.clock(), event.OVSUnreachable, "", fmt.Sprintf("Open vSwitch cannot be read: %v.", err))
	}
	p.down = true
}

func (p *Plugin) reachable(acc telegraf.Accumulator) {
	if p.down {
		p.events.Emit(acc, p.clock(), event.OVSReachable, "", "Open vSwitch can be read again.")
		p.Log.Info("Open vSwitch can be read again")
	}
	p.down = false
}

func init() {
	inputs.Add("ovs_offload", func() telegraf.Input {
		return &Plugin{
			Unixctl:         "/var/run/openvswitch/ovs-vswitchd.*.ctl",
			OVSDB:           "/var/run/openvswitch/db.sock",
			SysfsRoot:       sysfs.Default,
			MaskInterval:    config.Duration(10 * time.Second),
			PeerInterval:    config.Duration(30 * time.Second),
			EmptyMaskLinger: config.Duration(10 * time.Minute),
			SweepInterval:   config.Duration(time.Second),
			TCOrder:         true,
			TCAuditInterval: config.Duration(5 * time.Minute),
			Timeout:         config.Duration(8 * time.Second),
		}
	})
}
