package agent

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

	"github.com/google/uuid"

	"github.com/wallwatch/wallwatch/collectors/internal/atomicfile"
)

// errTryLater wraps failures of enrolment that may pass by themselves.
var errTryLater = errors.New("the server cannot enrol at the moment")

// Enrol exchanges a single-use token for credentials and saves them.
func Enrol(ctx context.Context, client *http.Client, serverURL, host, token, version, stateDir string) (Credentials, error) {
	if err := os.MkdirAll(stateDir, 0o755); err != nil { //nolint:gosec // G301: see Run
		return Credentials{}, err
	}
	instance, err := uuid.NewV7()
	if err != nil {
		return Credentials{}, err
	}
	if err := tryToKeep(stateDir); err != nil {
		return Credentials{}, fmt.Errorf("not enrolled, because credentials could not be kept: %w", err)
	}
	pin, err := pinOf(token)
	if err != nil {
		return Credentials{}, err
	}
	key, request, err := newKey(host)
	if err != nil {
		return Credentials{}, fmt.Errorf("making a key: %w", err)
	}
	credentials, err := postEnrolment(ctx, pinnedClient(client, serverURL, pin), serverURL, map[string]string{
		"token": token, "host": host, "version": version, "instance_uid": instance.String(), "csr": request,
	})
	if err != nil {
		return Credentials{}, err
	}
	credentials.Host, credentials.InstanceUID, credentials.PrivateKey = host, instance.String(), ""
	if credentials.Certificate != "" {
		credentials.PrivateKey, credentials.Secret = key, ""
	}
	if pin != nil && (credentials.Certificate == "" || !hasPinned(credentials.Authorities, pin)) {
		return Credentials{}, errors.New("the server's enrolment answer is not by the authority that the token names: either something between this host " +
			"and the server changed it, or the authority was replaced since (make a new token)")
	}
	if err := credentials.check(); err != nil {
		return Credentials{}, fmt.Errorf("the server's enrolment answer cannot be used: %w", err)
	}
	if err := credentials.Save(stateDir); err != nil {
		return Credentials{}, fmt.Errorf("enrolled, but the credentials cannot be saved (make a new token): %w", err)
	}
	return credentials, nil
}

// tryToKeep writes as much as credentials need. A token works once: a full disk has to be found before it is spent.
func tryToKeep(stateDir string) error {
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
		refused := fmt.Errorf("%s answered %s%s", address, response.Status, problemDetail(answer))
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

func problemDetail(body []byte) string {
	var problem struct {
		Code   string `json:"code"`
		Detail string `json:"detail"`
	}
	if json.Unmarshal(body, &problem) != nil || problem.Code+problem.Detail == "" {
		return ""
	}
	return fmt.Sprintf(": %s: %q", problem.Code, problem.Detail)
}

// ensureEnrolled returns the saved credentials, or enrols with the token file. The server may still be starting, so what can pass is waited for;
// a refused token is final.
func ensureEnrolled(ctx context.Context, config Config, client *http.Client, version string, log *slog.Logger) (Credentials, error) {
	credentials, err := LoadCredentials(config.StateDir)
	if err == nil && credentials.ended(time.Now()) && holdsToken(config.EnrolmentTokenFile) {
		log.Warn("the certificate has ended; there is a new enrolment token, so this host is enrolled anew")
		err = ErrNotEnrolled
	}
	if err == nil {
		if credentials.Host != config.Host {
			return Credentials{}, fmt.Errorf("the credentials in %s are for host %q, the configuration says %q; remove credentials.json and enrol again",
				config.StateDir, credentials.Host, config.Host)
		}
		return credentials, nil
	}
	if !errors.Is(err, ErrNotEnrolled) {
		return Credentials{}, err
	}
	if config.EnrolmentTokenFile == "" {
		return Credentials{}, fmt.Errorf("%w: run `wallwatch-agent enrol`, or set enrolment_token_file", ErrNotEnrolled)
	}
	content, err := os.ReadFile(config.EnrolmentTokenFile)
	token := strings.TrimSpace(string(content))
	if err != nil || token == "" {
		return Credentials{}, fmt.Errorf("%w and enrolment_token_file %s holds no token (make one with `wallwatch agent enrol`): %w",
			ErrNotEnrolled, config.EnrolmentTokenFile, err)
	}
	for wait := time.Second; ; wait = min(2*wait, 30*time.Second) {
		credentials, err = Enrol(ctx, client, config.ServerURL, config.Host, token, version, config.StateDir)
		if err == nil || !errors.Is(err, errTryLater) || ctx.Err() != nil {
			break
		}
		log.Warn("enrolment failed, trying again", "error", err, "wait", wait.String())
		sleep(ctx, wait)
	}
	if err != nil {
		return Credentials{}, fmt.Errorf("enrolment: %w", err)
	}
	log.Info("enrolled", "agent_id", credentials.AgentID)
	if err := os.Remove(config.EnrolmentTokenFile); err != nil {
		log.Warn("the used enrolment token cannot be removed; it is ignored from now on", "file", config.EnrolmentTokenFile, "error", err)
	}
	return credentials, nil
}
