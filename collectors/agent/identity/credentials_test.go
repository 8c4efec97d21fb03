package identity

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wallwatch/wallwatch/collectors/agent/agenttest"
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
