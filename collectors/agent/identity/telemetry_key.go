package identity

import (
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/wallwatch/wallwatch/collectors/internal/atomicfile"
	"github.com/wallwatch/wallwatch/collectors/internal/telemetrykey"
)

// messageTelemetryKey brings this host's telemetry key.
const messageTelemetryKey = "key"

// TelemetryKey keeps this host's telemetry key in the file that the collector reads. The agent itself does not use it.
type TelemetryKey struct {
	stateDir string
	log      *slog.Logger
}

// NewTelemetryKey keeps the key in a state directory.
func NewTelemetryKey(stateDir string, log *slog.Logger) *TelemetryKey {
	return &TelemetryKey{stateDir: stateDir, log: log}
}

// Handle handles one message of the server.
func (k *TelemetryKey) Handle(kind string, data []byte) {
	if kind != messageTelemetryKey {
		k.log.Warn("the server sent a message of unknown type", "type", kind)
		return
	}
	var message struct {
		Key string `json:"telemetry_key"`
	}
	if err := json.Unmarshal(data, &message); err != nil {
		k.log.Error("the server sent a telemetry key that cannot be read") // without the error, which may quote it
		return
	}
	if known, err := telemetrykey.Read(filepath.Join(k.stateDir, telemetrykey.FileName)); err == nil && known == message.Key {
		return
	}
	if err := saveTelemetryKey(k.stateDir, message.Key); err != nil {
		k.log.Error("the telemetry key could not be saved; the server will refuse this host's telemetry when the former key ends", "error", err)
		return
	}
	k.log.Info("telemetry key saved")
}

// saveTelemetryKey replaces the key. The group may read it, because the collector need not run as the agent's user.
func saveTelemetryKey(stateDir, key string) error {
	if err := telemetrykey.Check(key); err != nil {
		return err
	}
	path := filepath.Join(stateDir, telemetrykey.FileName)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // G301: the collector enters it; the key has mode 0640
		return err
	}
	return atomicfile.Write(path, []byte(key+"\n"), 0o640)
}
