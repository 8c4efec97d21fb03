package execution

import (
	"context"
	"crypto/ed25519"
	"log/slog"
	"maps"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/wallwatch/wallwatch/collectors/agent/agenttest"
	"github.com/wallwatch/wallwatch/collectors/agent/command"
	"github.com/wallwatch/wallwatch/collectors/agent/journal"
	"github.com/wallwatch/wallwatch/collectors/agent/remedies"
)

// memoryDatabase is other_config in memory. It counts changes, so that a test can see whether something ran twice.
type memoryDatabase struct {
	mu      sync.Mutex
	config  map[string]string
	changes int
	down    error
	ignore  bool // accepts changes without making them
}

func (m *memoryDatabase) OtherConfig(context.Context) (map[string]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.config), m.down
}

func (m *memoryDatabase) SetOtherConfig(_ context.Context, set map[string]string, remove []string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.down != nil {
		return m.down
	}
	m.changes++
	if m.ignore {
		return nil
	}
	maps.Copy(m.config, set)
	for _, key := range remove {
		delete(m.config, key)
	}
	return nil
}

// rig is an executor on a state directory that can die and start again.
type rig struct {
	*Executor
	t        *testing.T
	dir      string
	database *memoryDatabase
	now      time.Time
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t, dir: t.TempDir(), database: &memoryDatabase{config: map[string]string{"max-idle": "10000"}}, now: agenttest.Noon.Add(time.Second)}
	agenttest.MakePCI(t, filepath.Join(r.dir, "sys"))
	r.restart()
	t.Cleanup(func() { _ = r.Journal.Close() })
	return r
}

// restart gives the rig a new executor on the same files, as a new process would have.
func (r *rig) restart() {
	r.t.Helper()
	if r.Executor != nil {
		_ = r.Journal.Close()
	}
	record, err := journal.Open(r.dir)
	if err != nil {
		r.t.Fatal(err)
	}
	decoder, err := command.NewDecoder("host01", map[string]command.Key{"k1": {Public: agenttest.ServerKey.Public().(ed25519.PublicKey)}})
	if err != nil {
		r.t.Fatal(err)
	}
	r.Executor = &Executor{
		Decoder: decoder, Registry: remedies.NewRegistry(remedies.Host{
			Database: r.database, SysfsRoot: filepath.Join(r.dir, "sys"), CordonDir: filepath.Join(r.dir, "cordon"), PaceDir: filepath.Join(r.dir, "pace"),
		}),
		Journal: record, Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return r.now },
	}
}

func (r *rig) run(o agenttest.Order) journal.Result {
	r.t.Helper()
	answer, err := r.Execute(context.Background(), o.Sign())
	if err != nil {
		r.t.Fatal(err)
	}
	return answer.Result
}

// advancing is a clock that jumps by step at each look.
func advancing(r *rig, step time.Duration) func() time.Time {
	return func() time.Time {
		r.now = r.now.Add(step)
		return r.now
	}
}
