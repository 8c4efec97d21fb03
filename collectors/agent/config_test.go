package agent

import (
	"log/slog"
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
		"server_url: http://a\nsever: x":                 "sever",
		"host: h":                                        "server_url",
		"server_url: ftp://a":                            "server_url",
		"server_url: http://a\nopamp_url: http://a":      "opamp_url",
		"server_url: http://a\nheartbeat_seconds: 0":     "heartbeat_seconds",
		"server_url: http://a\nlog_level: loud":          "log_level",
		"server_url: http://a\nstate_dir: ''":            "state_dir",
		"server_url: http://a\nheartbeat_seconds: ab":    "cannot unmarshal",
		"server_url: http://a\nprobes: {enabled: true}":  "key_file",
		"server_url: http://a\nprobes: {peers: [a.b]}":   "ParseAddr(\"a.b\")",
		"server_url: http://a\nprobes: {per_seconds: 1}": "per_seconds",
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

func TestProbesAreOffUnlessSwitchedOn(t *testing.T) {
	config, err := loadText(t, "server_url: http://a\nprobes: {peers: [192.0.2.1]}\n")
	if err != nil || config.Probes.Enabled || config.Probes.PerSecond != 1 || len(config.Probes.Peers) != 1 {
		t.Errorf("%+v, %v", config.Probes, err)
	}
	config, err = loadText(t, "server_url: http://a\nprobes:\n  enabled: true\n  key_file: /k\n  max_peers: 3\n"+
		"  vfs: [{pci: '0000:3b:00.0', vf: 3, address: 2001:db8::1}]\n")
	if err != nil || !config.Probes.Enabled || config.Probes.MaxPeers != 3 || config.Probes.Port != 8477 || config.Probes.VFs[0].VF != 3 {
		t.Errorf("%+v, %v", config.Probes, err)
	}
}

func TestAnAgentDoesNotStartWithProbesThatNobodyCouldTrust(t *testing.T) {
	dir := t.TempDir()
	config, err := loadText(t, "host: h\nserver_url: http://127.0.0.1:1\nstate_dir: "+dir+"\nprobes:\n  enabled: true\n  key_file: "+dir+
		"/none\n  file: "+dir+"/probes.json\n  vfs: [{pci: '0000:3b:00.0', vf: 0, address: 127.0.0.1}]\n")
	if err != nil {
		t.Fatal(err)
	}
	if err := Run(t.Context(), config, "test", slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "key_file") {
		t.Errorf("%v, expected a mention of key_file", err)
	}
}
