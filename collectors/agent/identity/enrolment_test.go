package identity

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
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

// requestsOf enrols against a server that does not answer in a usable way until the last of these answers, and returns what it was sent.
func requestsOf(t *testing.T, dir string, tokens []string, answers ...func(http.ResponseWriter)) []map[string]string {
	t.Helper()
	var sent []map[string]string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := map[string]string{}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		sent = append(sent, body)
		answers[min(len(sent), len(answers))-1](w)
	}))
	t.Cleanup(server.Close)
	for _, token := range tokens { // as if each were a process of its own: nothing but the folder is kept between them
		_, _ = enrolmentAt(server, dir).Enrol(context.Background(), token)
	}
	return sent
}

func TestAnEnrolmentWhoseAnswerWasLostIsSentAgainUnchanged(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "agent")
	cut := func(w http.ResponseWriter) {
		w.Header().Set("Content-Length", "100")
		w.WriteHeader(http.StatusCreated)
	}
	sent := requestsOf(t, dir, []string{agenttest.Token, agenttest.Token, agenttest.Token}, cut, unavailable, accepted)
	if len(sent) != 3 || !maps.Equal(sent[0], sent[1]) || !maps.Equal(sent[0], sent[2]) {
		t.Fatalf("%v", sent)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 || files[0].Name() != credentialsFile {
		t.Errorf("the attempt is left behind: %v, %v", files, err)
	}
}

func TestAnotherTokenOrADamagedAttemptIsANewRequest(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "agent")
	sent := requestsOf(t, dir, []string{agenttest.Token, "enrol-me-too"}, unavailable)
	if err := os.WriteFile(filepath.Join(dir, attemptFile), []byte(`{"token_sha256": `), 0o600); err != nil {
		t.Fatal(err)
	}
	sent = append(sent, requestsOf(t, dir, []string{"enrol-me-too"}, unavailable)...)
	if len(sent) != 3 || sent[0]["csr"] == sent[1]["csr"] || sent[1]["csr"] == sent[2]["csr"] || sent[1]["instance_uid"] == sent[2]["instance_uid"] {
		t.Fatalf("%v", sent)
	}
}
