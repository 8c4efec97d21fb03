package identity

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/google/uuid"

	"github.com/wallwatch/wallwatch/collectors/internal/atomicfile"
)

// attemptFile is the name in the state directory of what an enrolment under way has sent.
const attemptFile = "enrolment-attempt.json"

// attempt is what an enrolment sends and must send unchanged until it is answered: a token is used up by the first request that arrives, and
// the server gives the same answer only to that request.
type attempt struct {
	// Token is the SHA-256 of the token, in hexadecimal digits.
	Token       string `json:"token_sha256"`
	Host        string `json:"host"`
	InstanceUID string `json:"instance_uid"`
	PrivateKey  string `json:"private_key"`
	Request     string `json:"csr"`
}

// attemptOf returns the attempt that an earlier call or process began with this token and host, or begins one and saves it. Nothing else is
// worth reading from the file: what is damaged, or of another token, is replaced.
func attemptOf(stateDir, host, token string) (attempt, error) {
	sum := sha256.Sum256([]byte(token))
	digest, path := hex.EncodeToString(sum[:]), filepath.Join(stateDir, attemptFile)
	var begun attempt
	if content, err := os.ReadFile(path); err == nil && json.Unmarshal(content, &begun) == nil &&
		begun.Token == digest && begun.Host == host && begun.Request != "" && begun.PrivateKey != "" {
		return begun, nil
	}
	instance, err := uuid.NewV7()
	if err != nil {
		return attempt{}, err
	}
	private, request, err := newKeyPair(host)
	if err != nil {
		return attempt{}, fmt.Errorf("creating a key: %w", err)
	}
	begun = attempt{Token: digest, Host: host, InstanceUID: instance.String(), PrivateKey: private, Request: request}
	content, err := json.Marshal(begun) //nolint:gosec // G117: the key is kept here until the certificate for it has come
	if err != nil {
		return attempt{}, err
	}
	if err := atomicfile.Write(path, append(content, '\n'), 0o600); err != nil {
		return attempt{}, fmt.Errorf("not enrolled, because the key could not be saved: %w", err)
	}
	return begun, nil
}

// forgetAttempt removes what is no longer needed once the credentials are saved.
func forgetAttempt(stateDir string) { _ = os.Remove(filepath.Join(stateDir, attemptFile)) }
