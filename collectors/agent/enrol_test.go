package agent

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wallwatch/wallwatch/collectors/internal/disktest"
)

// enrolAt runs the first start's enrolment against a server that gives one answer after the other.
func enrolAt(t *testing.T, answers ...func(http.ResponseWriter)) (Credentials, Config, error) {
	t.Helper()
	calls := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		answers[min(calls, len(answers)-1)](w)
		calls++
	}))
	t.Cleanup(server.Close)
	config := DefaultConfig()
	config.Host, config.ServerURL, config.StateDir = "host01", server.URL, filepath.Join(t.TempDir(), "agent")
	config.EnrolmentTokenFile = filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(config.EnrolmentTokenFile, []byte(testToken), 0o600); err != nil {
		t.Fatal(err)
	}
	credentials, err := ensureEnrolled(context.Background(), config, server.Client(), "1", slog.New(slog.DiscardHandler))
	return credentials, config, err
}

func unavailable(w http.ResponseWriter) { w.WriteHeader(http.StatusServiceUnavailable) }

func accepted(w http.ResponseWriter) {
	w.WriteHeader(http.StatusCreated)
	_, _ = w.Write([]byte(`{"agent_id": "a", "secret": "s", "opamp_url": "ws://x/v1/opamp", "command_keys": [{"kid": "k1", "alg": "EdDSA", "public_key": "` +
		publicKey().PublicKey + `"}]}`))
}

func TestAServerThatIsStillStartingIsWaitedFor(t *testing.T) {
	credentials, config, err := enrolAt(t, unavailable, accepted)
	if err != nil || credentials.AgentID != "a" {
		t.Fatalf("%+v, %v", credentials, err)
	}
	if _, err := os.Stat(config.EnrolmentTokenFile); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the used token is still there: %v", err)
	}
	config.Host = "host02"
	if _, err := ensureEnrolled(context.Background(), config, http.DefaultClient, "1", slog.New(slog.DiscardHandler)); err == nil ||
		!strings.Contains(err.Error(), "host02") {
		t.Errorf("credentials of another host are used: %v", err)
	}
}

func TestAnAnswerWithoutAUsableKeyIsNotAnEnrolment(t *testing.T) {
	_, config, err := enrolAt(t, func(w http.ResponseWriter) {
		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write([]byte(`{"agent_id": "a", "secret": "s", "opamp_url": "ws://x/v1/opamp", "command_keys": []}`))
	})
	if err == nil || !strings.Contains(err.Error(), "no command key") {
		t.Errorf("%v", err)
	}
	if _, err := LoadCredentials(config.StateDir); !errors.Is(err, ErrNotEnrolled) {
		t.Errorf("credentials were saved: %v", err)
	}
}

func TestWithoutCredentialsAndTokenTheWayToEnrolIsNamed(t *testing.T) {
	config := DefaultConfig()
	config.StateDir = t.TempDir()
	_, err := ensureEnrolled(context.Background(), config, http.DefaultClient, "1", slog.New(slog.DiscardHandler))
	if !errors.Is(err, ErrNotEnrolled) || !strings.Contains(err.Error(), "wallwatch-agent enrol") {
		t.Errorf("%v", err)
	}
}

func TestATokenIsNotSpentWhereItsAnswerCannotBeKept(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	asked := false
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked = true
		accepted(w)
	}))
	t.Cleanup(server.Close)
	makeRoom := disktest.Fill(t, empty, 0)
	dir := filepath.Join(t.TempDir(), "agent")
	if _, err := Enrol(context.Background(), server.Client(), server.URL, "host01", testToken, "1", dir); err == nil || asked {
		t.Errorf("the token was spent: %v", err)
	}
	makeRoom()
	if _, err := Enrol(context.Background(), server.Client(), server.URL, "host01", testToken, "1", dir); err != nil || !asked {
		t.Errorf("there is room again: %v", err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("left behind: %v, %v", files, err)
	}
}
