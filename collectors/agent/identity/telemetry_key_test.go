package identity

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wallwatch/wallwatch/collectors/agent/agenttest"
	"github.com/wallwatch/wallwatch/collectors/internal/telemetrykey"
)

func TestTheCollectorFindsTheKeyOfTheEnrolmentAndEachLaterOne(t *testing.T) {
	authority, dir := agenttest.NewAuthority(t, "ours"), t.TempDir()
	enrolled := telemetrykey.Of(make([]byte, 32), "host01")
	authority.TelemetryKey = enrolled
	server := authority.Server(authority.Enrolling("host01", time.Hour, authority.PEM()))
	if _, err := enrolWith(t, server, agenttest.Token+"."+authority.Pin(), dir); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, telemetrykey.FileName)
	if key, err := telemetrykey.Read(file); err != nil || key != enrolled {
		t.Fatalf("%q, %v", key, err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if credentials, err := os.ReadFile(filepath.Join(dir, credentialsFile)); err != nil || bytes.Contains(credentials, []byte(enrolled)) {
		t.Errorf("the key is kept twice: %v", err)
	}

	var log bytes.Buffer
	keeper := NewTelemetryKey(dir, slog.New(slog.NewTextHandler(&log, nil)))
	rotated := telemetrykey.Of(make([]byte, 33), "host01")
	keeper.Handle(messageTelemetryKey, []byte(`{"telemetry_key":"`+rotated+`"}`))
	if key, err := telemetrykey.Read(file); err != nil || key != rotated {
		t.Errorf("after a rotation: %q, %v", key, err)
	}
	for _, bad := range []string{"", "{", `{"telemetry_key":""}`, `{"telemetry_key":"a\nb"}`, `{"telemetry_key":1}`} {
		keeper.Handle(messageTelemetryKey, []byte(bad))
	}
	keeper.Handle("other", nil)
	if key, err := telemetrykey.Read(file); err != nil || key != rotated {
		t.Errorf("a bad message replaced the key: %q, %v", key, err)
	}
	if strings.Contains(log.String(), rotated) {
		t.Error("the key is in the log")
	}
}

func TestAServerThatDoesNotCheckKeysLeavesNoFile(t *testing.T) {
	authority, dir := agenttest.NewAuthority(t, "ours"), t.TempDir()
	server := authority.Server(authority.Enrolling("host01", time.Hour, authority.PEM()))
	if _, err := enrolWith(t, server, agenttest.Token+"."+authority.Pin(), dir); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, telemetrykey.FileName)); !os.IsNotExist(err) {
		t.Errorf("%v", err)
	}
}
