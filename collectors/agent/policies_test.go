package agent

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/open-telemetry/opamp-go/protobufs"

	"github.com/wallwatch/wallwatch/collectors/internal/ovs/ovstest"
	"github.com/wallwatch/wallwatch/collectors/internal/waittest"
)

const applied = protobufs.RemoteConfigStatuses_RemoteConfigStatuses_APPLIED

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
		Config:     &protobufs.AgentConfigMap{ConfigMap: map[string]*protobufs.AgentConfigFile{"policies.json": {Body: text, ContentType: "application/json"}}},
		ConfigHash: []byte(hash),
	}
}

func TestAServersPoliciesReachTheDiskAndItsAnswer(t *testing.T) {
	server := startServer(t)
	server.offer = remoteConfig(t)
	host := newTestHost(t, server, ovstest.StartDatabase(t, map[string]string{"hw-offload": "true"}).Socket)
	host.start()
	waittest.Until(t, "the policies to be applied", func() bool {
		server.mu.Lock()
		defer server.mu.Unlock()
		return server.configStatus.GetStatus() == applied && string(server.configStatus.LastRemoteConfigHash) == string(server.offer.ConfigHash)
	})
	if _, err := os.Stat(filepath.Join(host.config.StateDir, "policies", "policies.json")); err != nil {
		t.Error(err)
	}
	host.stop()
	server.look(func() bool { server.configStatus = nil; return true })
	host.start()
	waittest.Until(t, "the agent to say what it has after a restart", func() bool {
		return server.look(func() bool {
			return string(server.configStatus.GetLastRemoteConfigHash()) == string(server.offer.ConfigHash)
		})
	})
}
