package agent

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/wallwatch/wallwatch/collectors/agent/command"
	"github.com/wallwatch/wallwatch/collectors/agent/journal"
	"github.com/wallwatch/wallwatch/collectors/agent/remedies"
	"github.com/wallwatch/wallwatch/collectors/internal/ovs/ovstest"
)

var (
	serverKey = ed25519.NewKeyFromSeed([]byte("the server's key in these tests!"))
	noon      = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
)

const testPCI = "0000:3b:00.0"

// order is a command as the server makes it; zero fields get sensible values.
type order struct {
	CommandID, RemedyID, Host, Action, Operation string
	Params                                       map[string]any
	IssuedAt, ExpiresAt                          time.Time
	key                                          ed25519.PrivateKey
	kid                                          string
}

func (o order) sign() []byte {
	set := func(field *string, value string) {
		if *field == "" {
			*field = value
		}
	}
	set(&o.CommandID, uuid.NewString())
	set(&o.RemedyID, uuid.NewString())
	set(&o.Host, "host01")
	set(&o.Action, "tune-revalidator")
	set(&o.Operation, command.Apply)
	set(&o.kid, "k1")
	if o.key == nil {
		o.key = serverKey
	}
	if o.Params == nil {
		o.Params = map[string]any{}
	}
	if o.IssuedAt.IsZero() {
		o.IssuedAt = noon
	}
	if o.ExpiresAt.IsZero() {
		o.ExpiresAt = o.IssuedAt.Add(5 * time.Minute)
	}
	return signedBy(o.key, o.kid, command.MessageType, map[string]any{
		"command_id": o.CommandID, "remedy_id": o.RemedyID, "host": o.Host, "action": o.Action, "operation": o.Operation, "params": o.Params,
		"issued_at": o.IssuedAt.UTC().Format(time.RFC3339), "expires_at": o.ExpiresAt.UTC().Format(time.RFC3339),
	})
}

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
	r := &rig{t: t, dir: t.TempDir(), database: &memoryDatabase{config: map[string]string{"max-idle": "10000"}}, now: noon.Add(time.Second)}
	makePCI(t, filepath.Join(r.dir, "sys"))
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
	decoder, err := command.NewDecoder("host01", map[string]command.Key{"k1": {Public: serverKey.Public().(ed25519.PublicKey)}})
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

func (r *rig) run(o order) journal.Result {
	r.t.Helper()
	answer, err := r.Execute(context.Background(), o.sign())
	if err != nil {
		r.t.Fatal(err)
	}
	return answer.Result
}

func makePCI(t *testing.T, sysfs string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(sysfs, "bus", "pci", "devices", testPCI), 0o755); err != nil {
		t.Fatal(err)
	}
}

func tune(milliseconds int) map[string]any { return map[string]any{"max_idle_ms": milliseconds} }

func publicKey() CommandKey {
	return CommandKey{KID: "k1", Alg: "EdDSA", PublicKey: base64.RawURLEncoding.EncodeToString(serverKey.Public().(ed25519.PublicKey))}
}

func startDatabase(t *testing.T) *ovstest.Database {
	t.Helper()
	return ovstest.StartDatabase(t, map[string]string{"hw-offload": "true"})
}

func within(t *testing.T, limit time.Duration, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(limit); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if holds() {
			return
		}
	}
	t.Fatalf("not within %s: %s", limit, what)
}
