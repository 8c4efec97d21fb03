package policies

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/open-telemetry/opamp-go/protobufs"
)

const applied, failed = protobufs.RemoteConfigStatuses_RemoteConfigStatuses_APPLIED, protobufs.RemoteConfigStatuses_RemoteConfigStatuses_FAILED

// remoteConfig is the catalogue's policies as a server sends them.
func remoteConfig(t *testing.T) *protobufs.AgentRemoteConfig {
	t.Helper()
	text, err := os.ReadFile("../../internal/ltl/testdata/policies.json")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), `"hash":"`)
	hash, _, _ := strings.Cut(after, `"`)
	return &protobufs.AgentRemoteConfig{
		Config:     &protobufs.AgentConfigMap{ConfigMap: map[string]*protobufs.AgentConfigFile{fileName: {Body: text, ContentType: "application/json"}}},
		ConfigHash: []byte(hash),
	}
}

func TestPoliciesAreKeptAndFoundAgainAfterARestart(t *testing.T) {
	dir, remote := t.TempDir(), remoteConfig(t)
	s := Open(dir, slog.Default())
	if status := s.Status(); status != nil {
		t.Errorf("before anything came: %v", status)
	}
	if status := s.Accept(remote); status.Status != applied || status.ErrorMessage != "" {
		t.Fatal(status)
	}
	kept, err := os.ReadFile(filepath.Join(dir, folder, fileName))
	if err != nil || string(kept) != string(remote.Config.ConfigMap[fileName].Body) {
		t.Errorf("kept %d bytes, %v", len(kept), err)
	}
	if status := Open(dir, slog.Default()).Status(); status.Status != applied || string(status.LastRemoteConfigHash) != string(remote.ConfigHash) {
		t.Errorf("after a restart: %v", status)
	}
}

func TestBadPoliciesAreRefusedAndTheOldOnesStay(t *testing.T) {
	dir := t.TempDir()
	s := Open(dir, slog.Default())
	s.Accept(remoteConfig(t))
	before, err := os.ReadFile(filepath.Join(dir, folder, fileName))
	if err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*protobufs.AgentRemoteConfig){
		"has no file": func(r *protobufs.AgentRemoteConfig) { r.Config.ConfigMap = nil },
		"damaged": func(r *protobufs.AgentRemoteConfig) {
			f := r.Config.ConfigMap[fileName]
			f.Body = []byte(strings.Replace(string(f.Body), "flow_aged", "flow_agee", 1))
		},
		"not JSON":                 func(r *protobufs.AgentRemoteConfig) { r.Config.ConfigMap[fileName].Body = []byte("{") },
		"the remote configuration": func(r *protobufs.AgentRemoteConfig) { r.ConfigHash = []byte("sha256:other") },
	} {
		bad := remoteConfig(t)
		change(bad)
		if status := s.Accept(bad); status.Status != failed || !strings.Contains(status.ErrorMessage, want) {
			t.Errorf("%s: %v", want, status)
		}
		if after, err := os.ReadFile(filepath.Join(dir, folder, fileName)); err != nil || string(after) != string(before) {
			t.Errorf("%s: the file has changed (%v)", want, err)
		}
	}
}

func TestAFileThatWasDamagedOnTheDiskIsRequestedAgain(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, folder), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, folder, fileName), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if status := Open(dir, slog.Default()).Status(); status != nil {
		t.Error(status)
	}
}
