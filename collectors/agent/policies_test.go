package agent

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/open-telemetry/opamp-go/protobufs"
)

const applied, failed = protobufs.RemoteConfigStatuses_RemoteConfigStatuses_APPLIED, protobufs.RemoteConfigStatuses_RemoteConfigStatuses_FAILED

// remoteConfig is the catalogue's policies as a server sends them.
func remoteConfig(t *testing.T) *protobufs.AgentRemoteConfig {
	t.Helper()
	text, err := os.ReadFile("../internal/ltl/testdata/policies.json")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), `"hash":"`)
	hash, _, _ := strings.Cut(after, `"`)
	return &protobufs.AgentRemoteConfig{
		Config:     &protobufs.AgentConfigMap{ConfigMap: map[string]*protobufs.AgentConfigFile{PoliciesFile: {Body: text, ContentType: "application/json"}}},
		ConfigHash: []byte(hash),
	}
}

func TestPoliciesAreKeptAndFoundAgainAfterARestart(t *testing.T) {
	folder, remote := t.TempDir(), remoteConfig(t)
	s := openPolicies(folder, slog.Default())
	if status := s.status(); status != nil {
		t.Errorf("before anything came: %v", status)
	}
	if status := s.take(remote); status.Status != applied || status.ErrorMessage != "" {
		t.Fatal(status)
	}
	kept, err := os.ReadFile(filepath.Join(folder, policiesFolder, PoliciesFile))
	if err != nil || string(kept) != string(remote.Config.ConfigMap[PoliciesFile].Body) {
		t.Errorf("kept %d bytes, %v", len(kept), err)
	}
	if status := openPolicies(folder, slog.Default()).status(); status.Status != applied || string(status.LastRemoteConfigHash) != string(remote.ConfigHash) {
		t.Errorf("after a restart: %v", status)
	}
}

func TestBadPoliciesAreRefusedAndTheOldOnesStay(t *testing.T) {
	folder := t.TempDir()
	s := openPolicies(folder, slog.Default())
	s.take(remoteConfig(t))
	before, err := os.ReadFile(filepath.Join(folder, policiesFolder, PoliciesFile))
	if err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*protobufs.AgentRemoteConfig){
		"has no file": func(r *protobufs.AgentRemoteConfig) { r.Config.ConfigMap = nil },
		"damaged": func(r *protobufs.AgentRemoteConfig) {
			f := r.Config.ConfigMap[PoliciesFile]
			f.Body = []byte(strings.Replace(string(f.Body), "flow_aged", "flow_agee", 1))
		},
		"no JSON":                  func(r *protobufs.AgentRemoteConfig) { r.Config.ConfigMap[PoliciesFile].Body = []byte("{") },
		"the remote configuration": func(r *protobufs.AgentRemoteConfig) { r.ConfigHash = []byte("sha256:other") },
	} {
		bad := remoteConfig(t)
		change(bad)
		if status := s.take(bad); status.Status != failed || !strings.Contains(status.ErrorMessage, want) {
			t.Errorf("%s: %v", want, status)
		}
		if after, err := os.ReadFile(filepath.Join(folder, policiesFolder, PoliciesFile)); err != nil || string(after) != string(before) {
			t.Errorf("%s: the file has changed (%v)", want, err)
		}
	}
}

func TestAFileThatWasDamagedOnTheDiskIsAskedForAgain(t *testing.T) {
	folder := t.TempDir()
	if err := os.Mkdir(filepath.Join(folder, policiesFolder), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, policiesFolder, PoliciesFile), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if status := openPolicies(folder, slog.Default()).status(); status != nil {
		t.Error(status)
	}
}

func TestAServersPoliciesReachTheDiskAndItsAnswer(t *testing.T) {
	server := startServer(t)
	server.offer = remoteConfig(t)
	host := newTestHost(t, server, startDatabase(t).Socket)
	host.start()
	within(t, 10*time.Second, "the policies to be applied", func() bool {
		server.mu.Lock()
		defer server.mu.Unlock()
		return server.configStatus.GetStatus() == applied && string(server.configStatus.LastRemoteConfigHash) == string(server.offer.ConfigHash)
	})
	if _, err := os.Stat(filepath.Join(host.config.StateDir, policiesFolder, PoliciesFile)); err != nil {
		t.Error(err)
	}
	host.stop()
	server.look(func() bool { server.configStatus = nil; return true })
	host.start()
	within(t, 10*time.Second, "the agent to say what it has after a restart", func() bool {
		return server.look(func() bool {
			return string(server.configStatus.GetLastRemoteConfigHash()) == string(server.offer.ConfigHash)
		})
	})
}
