package identity

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/wallwatch/wallwatch/collectors/internal/atomicfile"
	"github.com/wallwatch/wallwatch/collectors/internal/problemjson"
	"github.com/wallwatch/wallwatch/collectors/internal/wait"
)

// errTryLater wraps failures of enrolment that may pass by themselves.
var errTryLater = errors.New("the server cannot enrol this agent at the moment")

// Enrolment says who enrols where.
type Enrolment struct {
	Client    *http.Client
	ServerURL string
	Host      string
	// Version is the agent's, for the server's list.
	Version  string
	StateDir string
	// TokenFile holds the token of the first start; "" where there is none.
	TokenFile string
}

// Enrol exchanges a single-use token for credentials and saves them. Where an answer was lost, it may be called again with the same token, also
// after a restart: it sends the same request, which the server answers again.
func (e Enrolment) Enrol(ctx context.Context, token string) (Credentials, error) {
	if err := os.MkdirAll(e.StateDir, 0o755); err != nil { //nolint:gosec // G301: the CNI plugin reads cordons in it; what is secret has mode 0600
		return Credentials{}, err
	}
	if err := tryToSave(e.StateDir); err != nil {
		return Credentials{}, fmt.Errorf("not enrolled, because the credentials could not be saved: %w", err)
	}
	pin, err := pinOf(token)
	if err != nil {
		return Credentials{}, err
	}
	asked, err := attemptOf(e.StateDir, e.Host, token)
	if err != nil {
		return Credentials{}, err
	}
	credentials, err := postEnrolment(ctx, pinnedClient(e.Client, e.ServerURL, pin), e.ServerURL, map[string]string{
		"token": token, "host": e.Host, "version": e.Version, "instance_uid": asked.InstanceUID, "csr": asked.Request,
	})
	if err != nil {
		return Credentials{}, err
	}
	credentials.Host, credentials.InstanceUID, credentials.PrivateKey = e.Host, asked.InstanceUID, ""
	if credentials.Certificate != "" {
		credentials.PrivateKey, credentials.Secret = asked.PrivateKey, ""
	}
	if pin != nil && (credentials.Certificate == "" || !hasPinned(credentials.Authorities, pin)) {
		return Credentials{}, errors.New("the server's enrolment answer is not by the authority that the token names: either something between this host " +
			"and the server changed it, or the authority was replaced since (create a new token)")
	}
	if err := credentials.check(); err != nil {
		return Credentials{}, fmt.Errorf("the server's enrolment answer cannot be used: %w", err)
	}
	key := credentials.TelemetryKey
	credentials.TelemetryKey = ""
	if err := credentials.Save(e.StateDir); err != nil {
		return Credentials{}, fmt.Errorf("enrolled, but the credentials cannot be saved (create a new token): %w", err)
	}
	forgetAttempt(e.StateDir)
	if key != "" {
		_ = saveTelemetryKey(e.StateDir, key) // the server sends it again on each connection, and a failure is logged there
	}
	return credentials, nil
}

// Ensure returns the saved credentials, or enrols with the token file. The server may still be starting, so it retries what can pass; a refused
// token is final.
func (e Enrolment) Ensure(ctx context.Context, log *slog.Logger) (Credentials, error) {
	credentials, err := LoadCredentials(e.StateDir)
	if err == nil && credentials.expired(time.Now()) && holdsToken(e.TokenFile) {
		log.Warn("the certificate has expired and there is a new enrolment token: enrolling this host again")
		err = ErrNotEnrolled
	}
	if err == nil {
		if credentials.Host != e.Host {
			return Credentials{}, fmt.Errorf("the credentials in %s are for host %q, the configuration says %q; remove credentials.json and enrol again",
				e.StateDir, credentials.Host, e.Host)
		}
		return credentials, nil
	}
	if !errors.Is(err, ErrNotEnrolled) {
		return Credentials{}, err
	}
	return e.enrolWithTokenFile(ctx, log)
}

func (e Enrolment) enrolWithTokenFile(ctx context.Context, log *slog.Logger) (Credentials, error) {
	if e.TokenFile == "" {
		return Credentials{}, fmt.Errorf("%w: run `wallwatch-agent enrol`, or set enrolment_token_file", ErrNotEnrolled)
	}
	content, err := os.ReadFile(e.TokenFile)
	token := strings.TrimSpace(string(content))
	if err != nil || token == "" {
		return Credentials{}, fmt.Errorf("%w and enrolment_token_file %s holds no token (create one with `wallwatch agent enrol`): %w",
			ErrNotEnrolled, e.TokenFile, err)
	}
	var credentials Credentials
	for pause := time.Second; ; pause = min(2*pause, 30*time.Second) {
		credentials, err = e.Enrol(ctx, token)
		if err == nil || !errors.Is(err, errTryLater) || ctx.Err() != nil {
			break
		}
		log.Warn("enrolment failed, trying again", "error", err, "wait", pause.String())
		wait.For(ctx, pause)
	}
	if err != nil {
		return Credentials{}, fmt.Errorf("enrolment: %w", err)
	}
	log.Info("enrolled", "agent_id", credentials.AgentID)
	if err := os.Remove(e.TokenFile); err != nil {
		log.Warn("the used enrolment token cannot be removed; it is ignored from now on", "file", e.TokenFile, "error", err)
	}
	return credentials, nil
}

// tryToSave writes as much as credentials need. A token works once: a full disk has to be found before the token is spent.
func tryToSave(stateDir string) error {
	trial := filepath.Join(stateDir, ".enrolment-trial")
	if err := atomicfile.Write(trial, make([]byte, 4096), 0o600); err != nil {
		return err
	}
	return os.Remove(trial)
}

func postEnrolment(ctx context.Context, client *http.Client, serverURL string, body map[string]string) (Credentials, error) {
	content, err := json.Marshal(body)
	if err != nil {
		return Credentials{}, err
	}
	address := strings.TrimRight(serverURL, "/") + "/api/v1/agents/enrol"
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(content))
	if err != nil {
		return Credentials{}, err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := client.Do(request)
	if err != nil {
		return Credentials{}, fmt.Errorf("%w: %w", errTryLater, err)
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(io.LimitReader(response.Body, 64<<10))
	if err != nil {
		return Credentials{}, fmt.Errorf("%w: %w", errTryLater, err)
	}
	if response.StatusCode != http.StatusCreated {
		refused := fmt.Errorf("%s answered %s", address, response.Status)
		if summary := problemjson.Summary(answer); summary != "" {
			refused = fmt.Errorf("%w: %s", refused, summary)
		}
		if response.StatusCode >= 500 || response.StatusCode == http.StatusTooManyRequests {
			return Credentials{}, fmt.Errorf("%w: %w", errTryLater, refused)
		}
		return Credentials{}, refused
	}
	var credentials Credentials
	if err := json.Unmarshal(answer, &credentials); err != nil {
		return Credentials{}, fmt.Errorf("the server's enrolment answer is not JSON: %w", err)
	}
	return credentials, nil
}

func holdsToken(path string) bool {
	content, err := os.ReadFile(path)
	return err == nil && strings.TrimSpace(string(content)) != ""
}
