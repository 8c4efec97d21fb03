package identity

import (
	"crypto/ed25519"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/wallwatch/wallwatch/collectors/agent/agenttest"
	"github.com/wallwatch/wallwatch/collectors/agent/command"
)

func publicKey() CommandKey {
	return CommandKey{KID: "k1", Alg: "EdDSA", PublicKey: agenttest.PublicKey(agenttest.ServerKey)}
}

func TestDamagedCredentialsAreNotUsed(t *testing.T) {
	dir := t.TempDir()
	if _, err := LoadCredentials(dir); !errors.Is(err, ErrNotEnrolled) {
		t.Errorf("without a file: %v", err)
	}
	good := Credentials{Host: "h", InstanceUID: "01930000-0000-7000-8000-000000000001", AgentID: "a", Secret: "s", OpAMPURL: "ws://x",
		CommandKeys: []CommandKey{publicKey()}}
	if err := good.Save(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadCredentials(dir); err != nil {
		t.Fatal(err)
	}
	for name, damage := range map[string]func(*Credentials){
		"no key": func(c *Credentials) { c.CommandKeys = nil },
		"a key of another alg": func(c *Credentials) {
			c.CommandKeys = []CommandKey{{KID: "k", Alg: "HS256", PublicKey: publicKey().PublicKey}}
		},
		"a short key": func(c *Credentials) { c.CommandKeys = []CommandKey{{KID: "k", Alg: "EdDSA", PublicKey: "AAAA"}} },
		"no secret":   func(c *Credentials) { c.Secret = "" },
		"no instance": func(c *Credentials) { c.InstanceUID = "" },
	} {
		bad := good
		damage(&bad)
		if err := bad.Save(dir); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadCredentials(dir); err == nil || !strings.Contains(err.Error(), "enrol again") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, credentialsFile), []byte(`{"agent`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadCredentials(dir); err == nil || errors.Is(err, ErrNotEnrolled) {
		t.Errorf("a torn file: %v", err)
	}
}

func TestPinnedKeysKeepTheirTimesOnTheDisk(t *testing.T) {
	public := agenttest.ServerKey.Public().(ed25519.PublicKey)
	at := time.Date(2026, 11, 21, 3, 0, 0, 250_000_000, time.UTC)
	keys := map[string]command.Key{"k1": {Public: public, NotAfter: at.Truncate(time.Second)}, "k2": {Public: public, IntroducedAt: at}}
	kept, err := Credentials{}.withKeys(keys).Keys()
	if err != nil || !reflect.DeepEqual(kept, keys) {
		t.Errorf("%v: %+v", err, kept)
	}
	damaged := Credentials{}.withKeys(keys)
	damaged.CommandKeys[1].IntroducedAt = "lately"
	if _, err := damaged.Keys(); err == nil || !strings.Contains(err.Error(), "introduced_at") {
		t.Errorf("a time that is none: %v", err)
	}
}
