package ovs_offload

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/wallwatch/wallwatch/collectors/internal/ovs/dpctl"
	"github.com/wallwatch/wallwatch/collectors/internal/ovs/ovsdb"
	"github.com/wallwatch/wallwatch/collectors/internal/ovs/unixctl"
)

// What Open vSwitch uses while other_config:max-idle and other_config:max-revalidator are not set (ovs-vswitchd.conf.db(5)).
const (
	defaultMaxIdle        = 10 * time.Second
	defaultMaxRevalidator = 500 * time.Millisecond
)

// switchState is what one gathering read.
type switchState struct {
	datapaths []dpctl.Datapath
	// refusals are the commands that the daemon would not run.
	refusals []error
	// unparsed counts, for each datapath, the lines that could not be understood; nil where the flows could not be read.
	unparsed []int
	// coverage has the fields that come from the daemon's own counters.
	coverage map[string]any
	// dumpedAt is when the dump began, elapsed the time since the dump before, 0 for the first.
	dumpedAt time.Time
	elapsed  time.Duration
}

// readSwitch asks the daemon for its datapaths and flows. A command that the daemon refuses costs its own values only. Without the flows
// the RNICs are unknown; where their dump broke off, what the datapaths reported before is returned with the error.
func (p *Plugin) readSwitch(ctx context.Context) (*switchState, error) {
	client, err := unixctl.Dial(ctx, p.Unixctl)
	if err != nil {
		if errors.Is(err, unixctl.ErrNotListening) {
			// The daemon is gone, and its flows are with it.
			p.tracker.reset()
		}
		return nil, err
	}
	defer func() { _ = client.Close() }()
	if now := (process{client.Path(), client.PeerPID()}); now != p.process {
		// Another daemon has other flows: those of the one before were flushed.
		p.tracker.reset()
		p.process, p.coverage = now, coverage{}
		p.sweeps.take()
	}

	state := &switchState{}
	show, err := state.call(ctx, client, "dpctl/show")
	if err != nil {
		return nil, err
	}
	upcall, err := state.call(ctx, client, "upcall/show")
	if err != nil {
		return nil, err
	}
	if len(state.refusals) == 2 {
		// Without a list of datapaths there would seem to be no flows.
		return nil, errors.Join(state.refusals...)
	}
	state.datapaths = dpctl.ParseUpcallShow(upcall, dpctl.ParseShow(show))
	p.sweeps.note(state.datapaths)
	if state.coverage, err = p.coverage.read(ctx, client); err != nil {
		return nil, err
	}
	state.dumpedAt = p.clock()
	p.tracker.begin(state.dumpedAt)
	for _, datapath := range state.datapaths {
		unparsed, err := p.dump(ctx, client, datapath.Name, len(state.datapaths))
		if err != nil {
			p.tracker.abort()
			state.unparsed = nil
			return state.unlessRefused(err), err
		}
		state.unparsed = append(state.unparsed, unparsed)
	}
	p.tracker.ended = p.clock()
	p.orderMasks()
	state.elapsed = p.tracker.commit()
	p.reportImplausible()
	return state, nil
}

// unlessRefused is what was read before the dump failed: nothing when the daemon does not dump flows at all, for then nobody would
// notice that they are missing.
func (s *switchState) unlessRefused(err error) *switchState {
	var refused *unixctl.CommandError
	if errors.As(err, &refused) {
		return nil
	}
	return s
}

func (s *switchState) call(ctx context.Context, client *unixctl.Client, command string) (string, error) {
	output, err := client.Call(ctx, command)
	var refused *unixctl.CommandError
	if errors.As(err, &refused) {
		s.refusals = append(s.refusals, err)
		return "", nil
	}
	return output, err
}

func (p *Plugin) dump(ctx context.Context, client *unixctl.Client, datapath string, datapaths int) (int, error) {
	arguments := []string{"-m", "--names"}
	if datapaths > 1 {
		// With one datapath the name can be left out, and then old releases understand the command too.
		arguments = append(arguments, datapath)
	}
	lines := dumpLines{add: p.tracker.add}
	before := p.tracker.unparsed
	if err := client.Stream(ctx, &lines, "dpctl/dump-flows", arguments...); err != nil {
		return 0, err
	}
	lines.finish()
	return lines.unparsed + p.tracker.unparsed - before, nil
}

// settingsShare is the part of the timeout that the database may use up: one that hangs must not cost the flows too.
const settingsShare = 4

// maxIdle reads other_config:max-idle. nil means that it is unknown now; the last known value then serves to judge
// re-offloads.
func (p *Plugin) maxIdle(ctx context.Context) (*time.Duration, error) {
	if p.OVSDB == "" {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(p.Timeout)/settingsShare)
	defer cancel()
	client, err := ovsdb.Dial(ctx, p.OVSDB)
	if err != nil {
		return nil, err
	}
	defer func() { _ = client.Close() }()
	settings, err := client.OtherConfig(ctx)
	if err != nil {
		return nil, err
	}
	sweep, err := milliseconds(settings, "max-revalidator", defaultMaxRevalidator)
	if err != nil {
		return nil, err
	}
	idle, err := milliseconds(settings, "max-idle", defaultMaxIdle)
	if err != nil {
		return nil, err
	}
	p.tracker.setTimes(idle, sweep, p.clock())
	return &idle, nil
}

func milliseconds(settings map[string]string, key string, unset time.Duration) (time.Duration, error) {
	text, set := settings[key]
	if !set {
		return unset, nil
	}
	ms, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return 0, fmt.Errorf("other_config:%s is %q, not a number of milliseconds", key, text)
	}
	return time.Duration(ms) * time.Millisecond, nil
}
