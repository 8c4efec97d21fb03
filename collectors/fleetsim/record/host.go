package record

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine"
	"github.com/wallwatch/wallwatch/collectors/fleetsim/hostfs"
	"github.com/wallwatch/wallwatch/collectors/fleetsim/vswitch"
	"github.com/wallwatch/wallwatch/collectors/internal/ovs/unixctl"
	"github.com/wallwatch/wallwatch/collectors/internal/stepped"
)

// aftermath is how long after its last line the kernel log may still become events: those of a stack trace wait for its end, and what was left
// out of a flood is reported when its minute is over.
const aftermath = 90 * time.Second

// host is one simulated host with its collectors.
type host struct {
	number     int
	state      *engine.Host
	engine     *engine.Engine
	clock      *clock
	root       string
	tree       *hostfs.Tree
	messages   *stepped.Messages
	admission  *admission
	seed       uint64
	schedule   *schedule
	policies   string      // file of compiled ones, if any
	collectors *collectors // nil while the host is down
	traffic    bool        // the input vf_traffic runs, each second as on a host

	boot       int
	lastSaid   time.Time // when the kernel last said something
	panickedAt time.Time
	dated      map[string]bool // dumps in the persistent store
}

func newHost(number int, state *engine.Host, r *recorder, seed uint64) (*host, error) {
	h := &host{number: number, state: state, engine: r.engine, clock: r.clock, root: filepath.Join(r.work, state.Name), admission: r.admission, seed: seed,
		schedule: newSchedule(r.options, seed, number), policies: r.options.Policies, traffic: r.options.VFTraffic || r.engine.HasTenants(), dated: map[string]bool{}}
	var err error
	if h.messages, err = stepped.NewMessages(state.Name, state.Rack); err != nil {
		return nil, err
	}
	if h.tree, err = hostfs.New(state, h.root); err != nil {
		return nil, err
	}
	h.tree.Clock = r.clock.now
	return h, os.MkdirAll(filepath.Join(h.root, eventFolder), 0o700)
}

// serve begins to answer for the host's switch and its database, until the context ends.
func (h *host) serve(ctx context.Context) error {
	if err := serveSettings(ctx, filepath.Join(h.root, "ovs/db.sock"), h.state.Settings); err != nil {
		return fmt.Errorf("the database's socket of %s: %w", h.state.Name, err)
	}
	socket := filepath.Join(h.root, "ovs/vswitchd.ctl")
	server := vswitch.Server{Engine: h.engine, Host: h.state, Log: slog.New(slog.DiscardHandler)}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx, socket) }()
	for {
		client, err := unixctl.Dial(ctx, socket)
		if err == nil {
			return client.Close()
		}
		select {
		case err := <-ended:
			return errors.Join(err, ctx.Err())
		case <-time.After(time.Millisecond):
		}
	}
}

// live does what happens on the host at one time: the kernel writes its log, and the collectors read what it is time for. While the kernel
// stands still they cannot run; while the host is down there are none, and after the boot there are new ones.
func (h *host) live(at time.Duration) error {
	sample, look := h.schedule.due(at)
	traffic := h.traffic && at%tick == 0
	if !sample && !look && at%tick != 0 {
		return nil
	}
	var said []engine.Message
	var values hostfs.Values
	var down, stalled bool
	h.engine.View(func(now time.Duration) {
		said, down, stalled = h.tree.Messages(), h.state.Down(now), h.state.Stalled(now)
		if !down && !stalled {
			values = h.capture(now, sample || traffic)
		}
	})
	if err := h.log(said); err != nil {
		return err
	}
	switch {
	case down || !h.panickedAt.IsZero():
		h.end()
		return nil
	case stalled:
		return nil
	}
	if h.collectors == nil {
		var err error
		if h.collectors, err = newCollectors(h.root, h.clock.now, h.messages, h.policies); err != nil {
			return err
		}
	}
	if err := h.tree.Write(values); err != nil {
		return err
	}
	h.collect(sample, look, traffic)
	return nil
}

// capture reads what the files are to show, if anybody will look at them. Call it inside the engine's View.
func (h *host) capture(now time.Duration, wanted bool) hostfs.Values {
	if !wanted {
		return nil
	}
	values := h.tree.Capture()
	h.tree.CaptureProbes(values, now)
	return values
}

// collect runs the collectors that are due.
func (h *host) collect(sample, look, traffic bool) {
	if look {
		h.collectors.OVS.LookAtSweep()
	}
	if sample {
		h.collectors.gather(h.collectors.RNIC, h.collectors.OVS)
	}
	if traffic {
		h.collectors.gather(h.collectors.VFs)
	}
	if sample || h.clock.now().Sub(h.lastSaid) < aftermath {
		h.collectors.gather(h.collectors.Kernel)
	}
	if h.admission.waiting(h.state.Name) || sample {
		h.collectors.gather(h.collectors.CNI)
	}
	if h.collectors.policies != nil {
		h.collectors.policies.plugin.Tick(h.messages)
	}
}

// end removes the collectors with their host: in order when it is shut down, at once when it crashed.
func (h *host) end() {
	if h.collectors == nil {
		return
	}
	if h.panickedAt.IsZero() {
		h.collectors.gather(h.collectors.Kernel, h.collectors.CNI)
		h.collectors.Stop()
	}
	h.collectors = nil
}

// log writes what the kernel has said, with the times that the files would have.
func (h *host) log(said []engine.Message) error {
	if len(said) == 0 {
		return nil
	}
	if err := h.tree.Log(said); err != nil {
		return err
	}
	last := said[len(said)-1]
	var kernelStart time.Duration
	h.engine.View(func(time.Duration) { kernelStart = h.state.KernelStart() })
	h.lastSaid = h.clock.at(kernelStart + last.SinceBoot)
	var errs []error
	if last.Boot != h.boot {
		h.boot = last.Boot
		errs = append(errs, h.writeBootID(), h.dateDumps())
		h.panickedAt = time.Time{}
	}
	if slices.ContainsFunc(said, func(m engine.Message) bool { return m.Panic && m.Boot == h.boot }) {
		h.panickedAt = h.lastSaid
	}
	// The modification time of a log file is when its last record was written.
	return errors.Join(append(errs, os.Chtimes(filepath.Join(h.root, "kmsg"), h.lastSaid, h.lastSaid))...)
}

// writeBootID replaces the random boot id by one that is the same in each recording with this seed.
func (h *host) writeBootID() error {
	id := bootID(h.seed, h.state.Name, h.boot)
	return os.WriteFile(filepath.Join(h.root, "proc/sys/kernel/random/boot_id"), []byte(id+"\n"), 0o644)
}

// dateDumps gives what the boot before left in the persistent store the time of the crash. Earlier dumps have theirs already.
func (h *host) dateDumps() error {
	entries, err := os.ReadDir(filepath.Join(h.root, "pstore"))
	errs := []error{err}
	for _, entry := range entries {
		if !h.dated[entry.Name()] && !h.panickedAt.IsZero() {
			h.dated[entry.Name()] = true
			errs = append(errs, os.Chtimes(filepath.Join(h.root, "pstore", entry.Name()), h.panickedAt, h.panickedAt))
		}
	}
	return errors.Join(errs...)
}
