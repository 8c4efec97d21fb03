// Package runner puts a simulated fleet behind real interfaces: trees of files, unixctl sockets, real ovsdb-servers and calls
// of the CNI plugin. It owns the clock; the engine knows none.
package runner

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine"
	"github.com/wallwatch/wallwatch/collectors/fleetsim/hostfs"
	"github.com/wallwatch/wallwatch/collectors/fleetsim/scenario"
	"github.com/wallwatch/wallwatch/collectors/fleetsim/smartnicfs"
	"github.com/wallwatch/wallwatch/collectors/fleetsim/truth"
	"github.com/wallwatch/wallwatch/collectors/fleetsim/vswitch"
)

// Options are the flags of "fleetsim run".
type Options struct {
	Scenario string  // scenario file
	Hosts    string  // folder that holds one folder a host
	Speed    float64 // virtual seconds a real second
	CNI      string  // CNI plugin to call on ADD and DEL; empty for none
	OVSDB    OVSDBTools
	Log      *slog.Logger
}

// filePeriod is how often the trees are brought up to date.
const filePeriod = time.Second

// Run simulates until the context ends.
func Run(ctx context.Context, o Options) error {
	s, err := scenario.Load(o.Scenario)
	if err != nil {
		return err
	}
	if o.Speed <= 0 || o.Speed > 100 {
		return fmt.Errorf("--speed is %g; it must be above 0 and at most 100", o.Speed)
	}
	// The working directory changes below, so paths that are relative to the present one are made absolute.
	for _, path := range []*string{&o.CNI, &o.OVSDB.Server, &o.OVSDB.Tool, &o.OVSDB.Schema} {
		if strings.ContainsRune(*path, filepath.Separator) {
			if *path, err = filepath.Abs(*path); err != nil {
				return err
			}
		}
	}
	if o.CNI != "" {
		if o.CNI, err = exec.LookPath(o.CNI); err != nil {
			return fmt.Errorf("--cni-bin: %w; build it with go build ./cmd/wallwatch-cni", err)
		}
	}
	if err := os.MkdirAll(o.Hosts, 0o755); err != nil {
		return fmt.Errorf("--hosts: %w", err)
	}
	// Sockets are bound by paths relative to the hosts' folder: a socket's path may have 107 characters at most, wherever the folder is.
	if err := os.Chdir(o.Hosts); err != nil {
		return fmt.Errorf("--hosts: %w", err)
	}
	f := &fleet{options: o, admission: &cniAdmission{binary: o.CNI, log: o.Log}}
	if f.engine, err = engine.New(s, f.admission); err != nil {
		return err
	}
	f.admission.released = f.engine.Released
	f.judge = truth.Watch(f.engine)
	if err := f.openHosts(s); err != nil {
		return err
	}
	return f.run(ctx)
}

type fleet struct {
	options   Options
	engine    *engine.Engine
	admission *cniAdmission
	trees     []*hostfs.Tree
	functions []*smartnicfs.Host
	requests  []*requests
	clock     stepClock
	judge     *truth.Judge
	truth     *truth.File
	// isolation is nil for a fleet without tenants.
	isolation *truth.IsolationFile
}

func (f *fleet) openHosts(s *scenario.Scenario) error {
	for _, h := range f.engine.Hosts() {
		tree, err := hostfs.New(h, h.Name)
		if err != nil {
			return err
		}
		f.trees = append(f.trees, tree)
		functions, err := smartnicfs.New(s, h.Name, h.Name)
		if err != nil {
			return err
		}
		f.functions = append(f.functions, functions)
		asked, err := newRequests(f.engine, h, f.options.Log)
		if err != nil {
			return err
		}
		f.requests = append(f.requests, asked)
	}
	f.writeFiles()
	f.admission.log = f.options.Log
	var err error
	if f.truth, err = truth.Create("../truth.jsonl"); err != nil || !f.engine.HasTenants() {
		return err
	}
	f.isolation, err = truth.CreateIsolation(filepath.Join("..", truth.IsolationFileName))
	return err
}

// trafficPeriod is how often counters of tenants move: who reads them every second must not see one update in a second and three in the next.
const trafficPeriod = 100 * time.Millisecond

// period is the time between two steps.
func (f *fleet) period() time.Duration {
	if f.engine.HasTenants() {
		return trafficPeriod
	}
	return engine.MaxStep
}

func (f *fleet) run(ctx context.Context) error {
	defer f.truth.Close()
	if f.isolation != nil {
		defer f.isolation.Close()
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var tasks sync.WaitGroup
	defer tasks.Wait()
	defer cancel(nil) // before the wait above
	for _, h := range f.engine.Hosts() {
		server := vswitch.Server{Engine: f.engine, Host: h, Log: f.options.Log, Now: f.clock.now}
		tasks.Go(func() {
			if err := server.Serve(ctx, filepath.Join(h.Name, "ovs/vswitchd.ctl")); err != nil {
				cancel(err)
			}
		})
		database := database{host: h, engine: f.engine, tools: f.options.OVSDB, log: f.options.Log}
		tasks.Go(func() {
			if err := database.keep(ctx); err != nil {
				cancel(err)
			}
		})
	}
	f.options.Log.Info("the fleet runs", "hosts", len(f.engine.Hosts()), "folder", f.options.Hosts)
	f.loop(ctx)
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		return cause
	}
	return nil
}

// loop steps the engine in real time. After a pause of the machine it goes on from now rather than catching up.
func (f *fleet) loop(ctx context.Context) {
	ticker := time.NewTicker(f.period())
	defer ticker.Stop()
	last, nextFiles := time.Now(), time.Time{}
	f.clock.start(last, f.options.Speed)
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		now := time.Now()
		elapsed := min(now.Sub(last), longestPause)
		last = now
		f.clock.advance(now, time.Duration(float64(elapsed)*f.options.Speed))
		f.engine.Step(time.Duration(float64(elapsed) * f.options.Speed))
		for _, functions := range f.functions {
			functions.Step(time.Duration(float64(elapsed) * f.options.Speed))
		}
		f.writeTruth(now)
		for _, r := range f.requests {
			r.serve()
		}
		if now.Before(nextFiles) {
			f.writeTraffic()
			continue
		}
		nextFiles = now.Add(filePeriod - f.period()/2)
		f.writeFiles()
	}
}

// writeTruth adds what the judge has found since the last call.
func (f *fleet) writeTruth(now time.Time) {
	var errs []error
	for _, v := range f.judge.Take() {
		errs = append(errs, f.truth.Add(v, now, f.options.Speed))
	}
	for _, b := range f.judge.TakeBreakages() {
		errs = append(errs, f.isolation.Add(b, now, f.options.Speed))
	}
	if err := errors.Join(errs...); err != nil {
		f.options.Log.Error("the truth files cannot be written", "error", err)
	}
}

// writeTraffic brings up to date what tenants move between two calls of writeFiles.
func (f *fleet) writeTraffic() {
	if !f.engine.HasTenants() {
		return
	}
	for _, tree := range f.trees {
		var values hostfs.Values
		f.engine.View(func(time.Duration) { values = tree.CaptureTraffic() })
		if err := tree.Write(values); err != nil {
			f.options.Log.Error("values of a host cannot be written", "error", err)
		}
	}
}

func (f *fleet) writeFiles() {
	for _, functions := range f.functions {
		if err := functions.Write(); err != nil {
			f.options.Log.Error("network functions of a host cannot be written", "error", err)
		}
	}
	for _, tree := range f.trees {
		var values hostfs.Values
		var messages []engine.Message
		f.engine.View(func(now time.Duration) {
			values, messages = tree.Capture(), tree.Messages()
			tree.CaptureProbes(values, now)
		})
		if err := errors.Join(tree.Log(messages), tree.Write(values)); err != nil {
			f.options.Log.Error("values of a host cannot be written", "error", err)
		}
	}
}
