package agent

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/wallwatch/wallwatch/collectors/agent/kernel"
	"github.com/wallwatch/wallwatch/collectors/agent/probes"
)

// Config is the agent's one configuration file. Relative paths are relative to the working directory.
type Config struct {
	Host               string `yaml:"host"`
	ServerURL          string `yaml:"server_url"`
	OpAMPURL           string `yaml:"opamp_url"`
	CAFile             string `yaml:"ca_file"`
	StateDir           string `yaml:"state_dir"`
	OVSDBSocket        string `yaml:"ovsdb_socket"`
	VSwitchdSocket     string `yaml:"vswitchd_socket"`
	SysfsRoot          string `yaml:"sysfs_root"`
	Netlink            string `yaml:"netlink"`
	EnrolmentTokenFile string `yaml:"enrolment_token_file"`
	HeartbeatSeconds   int    `yaml:"heartbeat_seconds"`
	LogLevel           string `yaml:"log_level"`
	// Probes between agents; off unless switched on.
	Probes probes.Config `yaml:"probes"`
}

// DefaultConfig has the defaults for a real host.
func DefaultConfig() Config {
	return Config{
		StateDir: "/var/lib/wallwatch-agent", OVSDBSocket: "/var/run/openvswitch/db.sock",
		VSwitchdSocket: "/var/run/openvswitch/ovs-vswitchd.*.ctl", SysfsRoot: "/sys", Netlink: kernel.Auto,
		HeartbeatSeconds: 15, LogLevel: "info", Probes: probes.DefaultConfig(),
	}
}

// LoadConfig reads and checks a file. A key that does not exist is an error, because a misspelt one would silently fall back to its default.
func LoadConfig(path string) (Config, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return Config{}, fmt.Errorf("reading the configuration: %w", err)
	}
	config := DefaultConfig()
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	decoder.KnownFields(true)
	if err := decoder.Decode(&config); err != nil && !errors.Is(err, io.EOF) {
		return Config{}, fmt.Errorf("%s: %w", path, err)
	}
	if config.Host == "" {
		if config.Host, err = os.Hostname(); err != nil {
			return Config{}, fmt.Errorf("%s: host is not set and the kernel's host name cannot be read: %w", path, err)
		}
	}
	if err := config.check(); err != nil {
		return Config{}, fmt.Errorf("%s: %w", path, err)
	}
	return config, nil
}

func (c Config) check() error {
	var problems []error
	if !isAddress(c.ServerURL, "http", "https") {
		problems = append(problems, fmt.Errorf("server_url must be an http or https address, not %q", c.ServerURL))
	}
	if c.OpAMPURL != "" && !isAddress(c.OpAMPURL, "ws", "wss") {
		problems = append(problems, fmt.Errorf("opamp_url must be a ws or wss address, not %q", c.OpAMPURL))
	}
	if c.StateDir == "" || c.OVSDBSocket == "" || c.SysfsRoot == "" || c.Netlink == "" {
		problems = append(problems, errors.New("state_dir, ovsdb_socket, sysfs_root and netlink must not be empty"))
	}
	if c.HeartbeatSeconds < 1 || c.HeartbeatSeconds > 3600 {
		problems = append(problems, fmt.Errorf("heartbeat_seconds must be between 1 and 3600, not %d", c.HeartbeatSeconds))
	}
	if err := new(slog.Level).UnmarshalText([]byte(c.LogLevel)); err != nil {
		problems = append(problems, fmt.Errorf("log_level must be debug, info, warn or error, not %q", c.LogLevel))
	}
	return errors.Join(append(problems, c.Probes.Check())...)
}

func isAddress(text string, schemes ...string) bool {
	address, err := url.Parse(text)
	return err == nil && address.Host != "" && slices.Contains(schemes, address.Scheme)
}

// CordonDir holds the cordon files, which the CNI plugin reads.
func (c Config) CordonDir() string { return filepath.Join(c.StateDir, "cordon") }

// PaceDir holds the paces, which the CNI plugin reads, and the accounts that it keeps.
func (c Config) PaceDir() string { return filepath.Join(c.StateDir, "pace") }

// PlanDir holds the operations of mask plans for an undo.
func (c Config) PlanDir() string { return filepath.Join(c.StateDir, "plans") }

// Heartbeat is the interval between heartbeats.
func (c Config) Heartbeat() time.Duration { return time.Duration(c.HeartbeatSeconds) * time.Second }

// NewLogger returns the agent's logger: JSON lines on standard error.
func (c Config) NewLogger(output io.Writer) *slog.Logger {
	var level slog.Level
	if level.UnmarshalText([]byte(c.LogLevel)) != nil {
		level = slog.LevelInfo
	}
	return slog.New(slog.NewJSONHandler(output, &slog.HandlerOptions{Level: level})).With("host", c.Host)
}
