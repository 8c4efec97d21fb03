package agent

import (
	"crypto/ed25519"
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/wallwatch/wallwatch/collectors/agent/agenttest"
	"github.com/wallwatch/wallwatch/collectors/agent/command"
	"github.com/wallwatch/wallwatch/collectors/agent/journal"
	"github.com/wallwatch/wallwatch/collectors/internal/waittest"
)

var nextKey = ed25519.NewKeyFromSeed([]byte("the next seed of exactly 32 byte"))

// rotation introduces k2, signed by whoever says to be k1, whose key ends after the overlap.
func rotation(by ed25519.PrivateKey, overlap time.Duration) []byte {
	at := time.Now().UTC()
	return agenttest.SignedBy(by, "k1", command.KeyMessageType, map[string]any{
		"kid": "k2", "public_key": base64.RawURLEncoding.EncodeToString(nextKey.Public().(ed25519.PublicKey)),
		"issued_at": at.Format(time.RFC3339), "expires_at": at.Add(time.Hour).Format(time.RFC3339),
		"retires": []map[string]string{{"kid": "k1", "not_after": at.Add(overlap).Format(time.RFC3339)}},
	})
}

func (s *testServer) keys() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.attributes["wallwatch.command_keys"]
}

func TestARotatedKeyIsPinnedReportedAndKept(t *testing.T) {
	server, host := startBoth(t)
	waittest.Until(t, "the agent names its key", func() bool { return server.keys() == "k1" })
	server.sendAs("key", rotation(nextKey, time.Hour))
	waittest.Until(t, "the agent says that it does not trust a forged key", func() bool {
		return server.look(func() bool {
			return strings.HasPrefix(server.attributes["wallwatch.command_key_refused"], command.CodeBadSignature)
		})
	})
	server.sendAs("key", rotation(agenttest.ServerKey, time.Hour))
	waittest.Until(t, "the agent names both keys", func() bool { return server.keys() == "k1 k2" })
	host.stop()
	host.start()
	waittest.Until(t, "the restarted agent names both keys", func() bool {
		return server.look(func() bool { return server.connections == 2 && server.attributes["wallwatch.command_keys"] == "k1 k2" })
	})
	o := now(agenttest.Order{CommandID: uuid.NewString(), Operation: command.DryRun, Params: agenttest.Tune(60000), Key: nextKey, KID: "k2"})
	server.send(o.Sign())
	if result := server.resultOf(o.CommandID); result.State != journal.Done {
		t.Errorf("a command of the new key: %+v", result)
	}
}

// A key that an agent hears of late, because it was offline for longer than the overlap, ends the old one at once.
func TestAnAgentThatWasDownThroughoutTheOverlapTrustsTheNewKeyOnly(t *testing.T) {
	server, _ := startBoth(t)
	waittest.Until(t, "the agent names its key", func() bool { return server.keys() == "k1" })
	server.sendAs("key", rotation(agenttest.ServerKey, -time.Minute))
	waittest.Until(t, "the agent names the new key", func() bool { return server.keys() == "k2" })
	o := now(agenttest.Order{CommandID: uuid.NewString(), Operation: command.DryRun, Params: agenttest.Tune(60000)})
	server.send(o.Sign())
	if result := server.resultOf(o.CommandID); result.State != journal.Refused || result.Code != command.CodeRetiredKey {
		t.Errorf("a command of the retired key: %+v", result)
	}
}
