package agent

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wallwatch/wallwatch/collectors/agent/agenttest"
	"github.com/wallwatch/wallwatch/collectors/agent/command"
	"github.com/wallwatch/wallwatch/collectors/agent/journal"
	"github.com/wallwatch/wallwatch/collectors/agent/remedies"
	"github.com/wallwatch/wallwatch/collectors/agent/switchdb"
	"github.com/wallwatch/wallwatch/collectors/internal/ovs/ovstest"
	"github.com/wallwatch/wallwatch/collectors/internal/waittest"
)

// logBuffer collects what the agent logs.
type logBuffer struct {
	mu      sync.Mutex
	content bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.content.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.content.String()
}

// testHost is one host: files, a database, and an agent that can be stopped and started.
type testHost struct {
	t      *testing.T
	config Config
	log    *logBuffer
	stop   func()
}

func newTestHost(t *testing.T, server *testServer, socket string) *testHost {
	t.Helper()
	dir := t.TempDir()
	config := DefaultConfig()
	config.Host, config.ServerURL, config.OVSDBSocket = "host01", server.http.URL, socket
	config.StateDir, config.SysfsRoot = filepath.Join(dir, "agent"), filepath.Join(dir, "sys")
	config.EnrolmentTokenFile = filepath.Join(dir, "token")
	agenttest.MakePCI(t, config.SysfsRoot)
	if err := os.WriteFile(config.EnrolmentTokenFile, []byte(agenttest.Token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return &testHost{t: t, config: config, log: &logBuffer{}, stop: func() {}}
}

func (h *testHost) start() {
	h.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, h.config, "9.9.9", h.config.NewLogger(h.log)) }()
	h.stop = func() {
		cancel()
		h.stop = func() {}
		select {
		case err := <-ended:
			if err != nil {
				h.t.Errorf("the agent ended with: %v", err)
			}
		case <-time.After(time.Minute):
			h.t.Error("the agent does not stop")
		}
	}
	h.t.Cleanup(func() { h.stop() })
}

// now makes an order that the agent's real clock finds valid.
func now(o agenttest.Order) agenttest.Order {
	if o.IssuedAt.IsZero() {
		o.IssuedAt = time.Now()
	}
	return o
}

func startBoth(t *testing.T) (*testServer, *testHost) {
	t.Helper()
	server := startServer(t)
	host := newTestHost(t, server, ovstest.StartDatabase(t, map[string]string{"hw-offload": "true"}).Socket)
	host.start()
	waittest.Until(t, "the agent is connected", func() bool { return server.look(func() bool { return server.capable }) })
	return server, host
}

func (s *testServer) resultOf(id string) journal.Result {
	s.t.Helper()
	var found journal.Result
	waittest.Until(s.t, "a result of "+id, func() bool {
		for _, result := range s.got() {
			if result.CommandID == id {
				found = result
				return true
			}
		}
		return false
	})
	return found
}

func TestAnAgentEnrolsConnectsAndSaysWhoItIs(t *testing.T) {
	server, host := startBoth(t)
	if server.enrolments[0]["host"] != "host01" || server.enrolments[0]["version"] != "9.9.9" || server.enrolments[0]["instance_uid"] == "" {
		t.Errorf("enrolled with %v", server.enrolments[0])
	}
	server.look(func() bool {
		for key, want := range map[string]string{"service.name": "wallwatch-agent", "service.version": "9.9.9", "host.name": "host01",
			"service.instance.id": server.enrolments[0]["instance_uid"]} {
			if server.attributes[key] != want {
				t.Errorf("%s is %q, expected %q", key, server.attributes[key], want)
			}
		}
		if server.health == nil || !server.health.Healthy || server.health.StartTimeUnixNano == 0 || len(server.health.ComponentHealthMap) != 3 {
			t.Errorf("health: %v", server.health)
		}
		return true
	})
	if _, err := os.Stat(host.config.EnrolmentTokenFile); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the used token is still there: %v", err)
	}
	info, err := os.Stat(filepath.Join(host.config.StateDir, "credentials.json"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("credentials: %v, %v", info, err)
	}
	host.stop()
	host.start()
	waittest.Until(t, "the agent is back without a token", func() bool { return server.look(func() bool { return server.connections == 2 }) })
	if log := host.log.String(); strings.Contains(log, "s3cret") || strings.Contains(log, agenttest.Token) {
		t.Error("a secret was logged")
	}
}

func TestARemedyIsPlannedAppliedAndUndoneOnARealDatabase(t *testing.T) {
	server, host := startBoth(t)
	database := switchdb.Database{Socket: host.config.OVSDBSocket}
	value := func() string {
		config, err := database.OtherConfig(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if config["hw-offload"] != "true" {
			t.Errorf("a key that is none of this remedy's business was changed: %v", config)
		}
		return config["max-idle"]
	}
	remedy := "7d1e0c44-8a55-4c39-8b1f-5e3f6a2b7c22"
	steps := []struct {
		id, operation, after string
		params               map[string]any
	}{
		{"00000000-0000-4000-8000-000000000001", command.DryRun, "", agenttest.Tune(60000)},
		{"00000000-0000-4000-8000-000000000002", command.Apply, "60000", agenttest.Tune(60000)},
		{"00000000-0000-4000-8000-000000000003", command.Undo, "", nil},
	}
	for _, step := range steps {
		server.send(now(agenttest.Order{CommandID: step.id, RemedyID: remedy, Operation: step.operation, Params: step.params}).Sign())
		result := server.resultOf(step.id)
		if result.State != journal.Done || len(result.Operations) != 1 || result.Operations[0].Target != "Open_vSwitch.other_config:max-idle" {
			t.Errorf("%s: %+v", step.operation, result)
		}
		if value() != step.after {
			t.Errorf("after %s max-idle is %q, expected %q", step.operation, value(), step.after)
		}
	}
}

func TestRefusalsReachTheServerAndTheLog(t *testing.T) {
	server, host := startBoth(t)
	stranger := ed25519.NewKeyFromSeed([]byte("a key that nobody has pinned!!!!"))
	for id, c := range map[string]struct {
		order agenttest.Order
		code  string
	}{
		"00000000-0000-4000-8000-000000000011": {agenttest.Order{Key: stranger, Params: agenttest.Tune(60000)}, command.CodeBadSignature},
		"00000000-0000-4000-8000-000000000012": {agenttest.Order{Action: "reboot"}, remedies.CodeUnknownAction},
		"00000000-0000-4000-8000-000000000013": {agenttest.Order{Params: agenttest.Tune(1)}, remedies.CodeBadParameter},
		"00000000-0000-4000-8000-000000000014": {agenttest.Order{Params: agenttest.Tune(60000), IssuedAt: time.Now().Add(-time.Hour)}, command.CodeExpired},
	} {
		c.order.CommandID = id
		server.send(now(c.order).Sign())
		if result := server.resultOf(id); result.State != journal.Refused || result.Code != c.code {
			t.Errorf("%+v, expected %s", result, c.code)
		}
		if log := host.log.String(); !strings.Contains(log, `"code":"`+c.code+`"`) || !strings.Contains(log, id) {
			t.Errorf("%s is not in the log", c.code)
		}
	}
}

func TestResultsSurviveALostConnectionAndARestartUntilAcknowledged(t *testing.T) {
	server, host := startBoth(t)
	server.look(func() bool { server.acknowledge = false; return true })
	id := "00000000-0000-4000-8000-000000000021"
	count := func() int {
		seen := 0
		for _, result := range server.got() {
			if result.CommandID == id {
				seen++
			}
		}
		return seen
	}
	server.send(now(agenttest.Order{CommandID: id, Params: agenttest.Tune(60000)}).Sign())
	server.resultOf(id)
	server.hangUp()
	waittest.Until(t, "the result comes again after a reconnection", func() bool { return count() == 2 })
	host.stop()
	server.look(func() bool { server.acknowledge = true; return true })
	host.start()
	waittest.Until(t, "the result comes again after a restart", func() bool { return count() == 3 })
	waittest.Until(t, "the acknowledgement is journalled", func() bool {
		records, _, err := journal.Read(host.config.StateDir)
		return err == nil && records[len(records)-1].Kind == journal.KindDelivered
	})
	server.hangUp()
	waittest.Until(t, "the agent is back", func() bool { return server.look(func() bool { return server.connections == 4 && server.capable }) })
	// Results that are not acknowledged are sent before anything that is done afterwards: a later one is the barrier.
	after := "00000000-0000-4000-8000-000000000022"
	server.send(now(agenttest.Order{CommandID: after, Params: agenttest.Tune(70000)}).Sign())
	server.resultOf(after)
	if count() != 3 {
		t.Errorf("an acknowledged result was sent again: %d times", count())
	}
}

func TestACommandSentTwiceRunsOnce(t *testing.T) {
	server, _ := startBoth(t)
	message := now(agenttest.Order{CommandID: "00000000-0000-4000-8000-000000000031", Params: agenttest.Tune(60000)}).Sign()
	server.send(message)
	server.resultOf("00000000-0000-4000-8000-000000000031")
	server.send(message)
	waittest.Until(t, "a repeated answer", func() bool {
		got := server.got()
		return len(got) == 2 && got[1].Repeated && got[1].State == journal.Done
	})
}

func TestALostDatabaseIsReportedAsIllHealthAndRefusedAsAPrecondition(t *testing.T) {
	database := ovstest.StartDatabase(t, map[string]string{"hw-offload": "true"})
	server := startServer(t)
	host := newTestHost(t, server, database.Socket)
	database.Kill()
	host.start()
	waittest.Until(t, "ill health", func() bool {
		return server.look(func() bool {
			return server.health != nil && !server.health.Healthy && strings.Contains(server.health.LastError, "ovsdb") &&
				!server.health.ComponentHealthMap["ovsdb"].Healthy && server.health.ComponentHealthMap["journal"].Healthy
		})
	})
	id := "00000000-0000-4000-8000-000000000041"
	server.send(now(agenttest.Order{CommandID: id, Params: agenttest.Tune(60000)}).Sign())
	if result := server.resultOf(id); result.Code != remedies.CodePreconditionFailed {
		t.Errorf("%+v", result)
	}
}

func TestARefusedEnrolmentEndsTheAgentWithAReason(t *testing.T) {
	server := startServer(t)
	host := newTestHost(t, server, "nowhere.sock")
	if err := os.WriteFile(host.config.EnrolmentTokenFile, []byte("wrong"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	err := Run(ctx, host.config, "9.9.9", host.config.NewLogger(host.log))
	if err == nil || !strings.Contains(err.Error(), "enrolment_token_invalid") {
		t.Errorf("ended with %v", err)
	}
	if _, err := os.Stat(host.config.EnrolmentTokenFile); err != nil {
		t.Error("a token that was not used up was removed")
	}
}
