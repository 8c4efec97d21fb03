package agent

import (
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
