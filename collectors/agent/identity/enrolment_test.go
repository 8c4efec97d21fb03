package identity

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

	"github.com/wallwatch/wallwatch/collectors/agent/agenttest"
	"github.com/wallwatch/wallwatch/collectors/internal/disktest"
)

// enrolAt runs the first start's enrolment against a server that gives one answer after the other.
func enrolAt(t *testing.T, answers ...func(http.ResponseWriter)) (Credentials, Enrolment, error) {
	t.Helper()
	calls := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		answers[min(calls, len(answers)-1)](w)
		calls++
	}))
	t.Cleanup(server.Close)
	enrolment := enrolmentAt(server, filepath.Join(t.TempDir(), "agent"))
	enrolment.TokenFile = filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(enrolment.TokenFile, []byte(agenttest.Token), 0o600); err != nil {
		t.Fatal(err)
	}
	credentials, err := enrolment.Ensure(context.Background(), slog.New(slog.DiscardHandler))
	return credentials, enrolment, err
}

func unavailable(w http.ResponseWriter) { w.WriteHeader(http.StatusServiceUnavailable) }

func accepted(w http.ResponseWriter) {
	w.WriteHeader(http.StatusCreated)
	_, _ = w.Write([]byte(`{"agent_id": "a", "secret": "s", "opamp_url": "ws://x/v1/opamp", "command_keys": [{"kid": "k1", "alg": "EdDSA", "public_key": "` +
		publicKey().PublicKey + `"}]}`))
}

func TestAServerThatIsStillStartingIsWaitedFor(t *testing.T) {
	credentials, enrolment, err := enrolAt(t, unavailable, accepted)
	if err != nil || credentials.AgentID != "a" {
		t.Fatalf("%+v, %v", credentials, err)
	}
	if _, err := os.Stat(enrolment.TokenFile); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the used token is still there: %v", err)
	}
	enrolment.Host = "host02"
	if _, err := enrolment.Ensure(context.Background(), slog.New(slog.DiscardHandler)); err == nil ||
		!strings.Contains(err.Error(), "host02") {
		t.Errorf("credentials of another host are used: %v", err)
	}
}

func TestAnAnswerWithoutAUsableKeyIsNotAnEnrolment(t *testing.T) {
	_, enrolment, err := enrolAt(t, func(w http.ResponseWriter) {
		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write([]byte(`{"agent_id": "a", "secret": "s", "opamp_url": "ws://x/v1/opamp", "command_keys": []}`))
	})
	if err == nil || !strings.Contains(err.Error(), "no command key") {
		t.Errorf("%v", err)
	}
	if _, err := LoadCredentials(enrolment.StateDir); !errors.Is(err, ErrNotEnrolled) {
		t.Errorf("credentials were saved: %v", err)
	}
}

func TestWithoutCredentialsAndTokenTheWayToEnrolIsNamed(t *testing.T) {
	enrolment := Enrolment{Client: http.DefaultClient, Version: "1", StateDir: t.TempDir()}
	_, err := enrolment.Ensure(context.Background(), slog.New(slog.DiscardHandler))
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
	if _, err := enrolmentAt(server, dir).Enrol(context.Background(), agenttest.Token); err == nil || asked {
		t.Errorf("the token was spent: %v", err)
	}
	makeRoom()
	if _, err := enrolmentAt(server, dir).Enrol(context.Background(), agenttest.Token); err != nil || !asked {
		t.Errorf("there is room again: %v", err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("left behind: %v, %v", files, err)
	}
}
