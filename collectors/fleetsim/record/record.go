package record

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine"
	"github.com/wallwatch/wallwatch/collectors/fleetsim/truth"
)

// ErrCutShort says that the recording ended before the requested length. What was written can be read.
var ErrCutShort = errors.New("the recording is cut short")

// recorder is a running recording.
type recorder struct {
	options   *Options
	work      string
	engine    *engine.Engine
	clock     *clock
	admission *admission
	hosts     []*host
	judge     *truth.Judge
	truth     *truth.File
	isolation *truth.IsolationFile // nil for a fleet without tenants
	// performance is nil where it was not requested.
	performance *performanceFile
	output      *output
	run         *Description
	workers     int
}

// Run records a scenario. When the context ends early, what was recorded so far is completed and ErrCutShort returned.
func Run(ctx context.Context, o Options) (err error) {
	if err := o.check(); err != nil {
		return err
	}
	s, text, err := o.load()
	if err != nil {
		return err
	}
	r := &recorder{options: &o, clock: &clock{start: o.Start.UTC()}, workers: runtime.GOMAXPROCS(0)}
	if r.work, err = o.workFolder(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(r.work)) }()
	r.admission = &admission{clock: r.clock, work: r.work, calls: map[string]int64{}}
	if r.engine, err = engine.New(s, r.admission); err != nil {
		return err
	}
	r.judge = truth.Watch(r.engine)
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	if err := r.openHosts(serving, s.Seed); err != nil {
		return err
	}
	if err := os.MkdirAll(o.Out, 0o755); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	if r.truth, err = truth.Create(filepath.Join(o.Out, TruthFile)); err != nil {
		return err
	}
	defer r.truth.Close()
	if r.engine.HasTenants() {
		if r.isolation, err = truth.CreateIsolation(filepath.Join(o.Out, truth.IsolationFileName)); err != nil {
			return err
		}
		defer r.isolation.Close()
	}
	if o.Performance {
		if r.performance, err = openPerformance(o.Out, r.engine.Hosts()); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, r.performance.close()) }()
	}
	r.run = newRun(&o, s, text, r.engine.Hosts())
	if err := r.run.write(filepath.Join(o.Out, RunFile)); err != nil {
		return err
	}
	if r.output, err = createOutput(filepath.Join(o.Out, TelemetryFile)); err != nil {
		return err
	}
	recorded, err := r.record(ctx)
	return r.finish(recorded, err)
}

// openHosts makes the hosts' files and sockets.
func (r *recorder) openHosts(ctx context.Context, seed uint64) error {
	for i, state := range r.engine.Hosts() {
		h, err := newHost(i, state, r, seed)
		if err != nil {
			return err
		}
		r.hosts = append(r.hosts, h)
		if err := h.serve(ctx); err != nil {
			return err
		}
	}
	return nil
}

// record moves the fleet on until the end, and returns how far it came.
func (r *recorder) record(ctx context.Context) (time.Duration, error) {
	o := r.options
	progress := newProgress(o.Progress, o.Length)
	for at := engine.MaxStep; at <= o.Length; at += engine.MaxStep {
		if ctx.Err() != nil {
			return at - engine.MaxStep, ErrCutShort
		}
		if err := r.move(at-engine.MaxStep, at); err != nil {
			return at - engine.MaxStep, err
		}
		if err := r.live(at); err != nil {
			return at - engine.MaxStep, err
		}
		if r.performance != nil && at%o.Interval == 0 {
			if err := r.performance.sample(r.clock.now()); err != nil {
				return at - engine.MaxStep, err
			}
		}
		if at%time.Minute == 0 {
			r.output.settle(r.clock.now())
		}
		progress.show(at)
	}
	return o.Length, nil
}

// move steps the engine from one time to another.
func (r *recorder) move(from, to time.Duration) error {
	for at := from + engine.MaxStep; at <= to; at += engine.MaxStep {
		r.clock.set(at) // the engine calls the CNI chain in the middle of a step, whose time is its end
		r.engine.Step(engine.MaxStep)
		for _, v := range r.judge.Take() {
			if err := r.truth.Add(v, r.clock.now(), 1); err != nil {
				return err
			}
		}
		for _, b := range r.judge.TakeBreakages() {
			if err := r.isolation.Add(b, r.clock.now(), 1); err != nil {
				return err
			}
		}
		if r.performance != nil {
			r.engine.View(func(time.Duration) { r.performance.step() })
		}
	}
	return r.admission.err
}

// live lets all hosts live for a moment, several at a time when there may be much to do.
func (r *recorder) live(at time.Duration) error {
	workers := 1
	if at%r.options.Interval <= r.options.Jitter {
		workers = min(r.workers, len(r.hosts))
	}
	failures := make([]error, workers)
	var group sync.WaitGroup
	for w := range workers {
		work := func() {
			for i := w; i < len(r.hosts) && failures[w] == nil; i += workers {
				failures[w] = r.hosts[i].live(at)
			}
		}
		if workers == 1 {
			work()
		} else {
			group.Go(work)
		}
	}
	group.Wait()
	for _, h := range r.hosts {
		for _, message := range h.messages.Take() {
			r.output.add(line{at: message.At, host: h.number, text: message.Text})
		}
	}
	return errors.Join(failures...)
}

// finish completes the files, also of a recording that is cut short.
func (r *recorder) finish(recorded time.Duration, failure error) error {
	err := r.output.close()
	r.run.RecordedS = recorded.Seconds()
	r.run.Complete = failure == nil && err == nil
	r.run.Messages, r.run.OutOfOrder = r.output.measured, r.output.outOfOrder
	for _, h := range r.hosts {
		for text, times := range h.messages.TakeErrors() {
			r.run.Errors[text] += times
		}
	}
	err = errors.Join(err, r.run.write(filepath.Join(r.options.Out, RunFile)))
	if errors.Is(failure, ErrCutShort) {
		failure = fmt.Errorf("%w: %s of %s are in %s and can be read", failure, recorded, r.options.Length, r.options.Out)
	}
	return errors.Join(failure, err)
}
