package agent

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func loadText(t *testing.T, text string) (Config, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "agent.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return LoadConfig(path)
}

func TestTheExampleConfigurationIsAccepted(t *testing.T) {
	config, err := LoadConfig(filepath.Join("..", "cmd", "wallwatch-agent", "agent.yaml.example"))
	if err != nil {
		t.Fatal(err)
	}
	if config.Host != "host01" || config.StateDir != "agent" || config.CordonDir() != filepath.Join("agent", "cordon") || config.Heartbeat() != 15*time.Second {
		t.Errorf("%+v", config)
	}
}

func TestAMistakeInTheConfigurationIsNamed(t *testing.T) {
	for text, mention := range map[string]string{
		"server_url: http://a\nsever: x":              "sever",
		"host: h":                                     "server_url",
		"server_url: ftp://a":                         "server_url",
		"server_url: http://a\nopamp_url: http://a":   "opamp_url",
		"server_url: http://a\nheartbeat_seconds: 0":  "heartbeat_seconds",
		"server_url: http://a\nlog_level: loud":       "log_level",
		"server_url: http://a\nstate_dir: ''":         "state_dir",
		"server_url: http://a\nheartbeat_seconds: ab": "cannot unmarshal",
	} {
		if _, err := loadText(t, text); err == nil || !strings.Contains(err.Error(), mention) {
			t.Errorf("%q: %v, expected a mention of %q", text, err, mention)
		}
	}
}

func TestTheHostNameDefaultsToTheKernels(t *testing.T) {
	config, err := loadText(t, "server_url: http://127.0.0.1:1\n")
	name, _ := os.Hostname()
	if err != nil || config.Host != name {
		t.Errorf("%q, %v", config.Host, err)
	}
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
