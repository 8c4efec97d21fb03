// Package identity is who this agent is: its credentials on the disk, how it gets them (enrolment), the certificate that it presents and renews,
// and the keys whose commands it obeys.
package identity

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/wallwatch/wallwatch/collectors/agent/command"
	"github.com/wallwatch/wallwatch/collectors/internal/atomicfile"
)

// credentialsFile is its name in the state directory.
const credentialsFile = "credentials.json"

// Credentials are what enrolment gave: who this agent is and whose commands it obeys.
type Credentials struct {
	Host        string       `json:"host"`
	InstanceUID string       `json:"instance_uid"`
	AgentID     string       `json:"agent_id"`
	Secret      string       `json:"secret,omitempty"`
	OpAMPURL    string       `json:"opamp_url"`
	CommandKeys []CommandKey `json:"command_keys"`
	// Certificate, PrivateKey and Authorities are PEM. An agent that has them needs no secret.
	Certificate string   `json:"certificate,omitempty"`
	PrivateKey  string   `json:"private_key,omitempty"`
	Authorities []string `json:"authorities,omitempty"`
	// TelemetryKey is in the answer to an enrolment; it is kept in a file of its own.
	TelemetryKey string `json:"telemetry_key,omitempty"`
}

// CommandKey is a public key that signs commands.
type CommandKey struct {
	KID       string `json:"kid"`
	Alg       string `json:"alg"`
	PublicKey string `json:"public_key"`
	// NotAfter is when the key expires, in RFC 3339; empty: never.
	NotAfter string `json:"not_after,omitempty"`
	// IntroducedAt is when the server introduced the key, in RFC 3339; empty: at the enrolment.
	IntroducedAt string `json:"introduced_at,omitempty"`
}

// ErrNotEnrolled means that the state directory holds no credentials.
var ErrNotEnrolled = errors.New("this agent is not enrolled")

// LoadCredentials reads the credentials in a state directory.
func LoadCredentials(stateDir string) (Credentials, error) {
	path := filepath.Join(stateDir, credentialsFile)
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Credentials{}, ErrNotEnrolled
	}
	if err != nil {
		return Credentials{}, fmt.Errorf("reading the credentials: %w", err)
	}
	var credentials Credentials
	if err := json.Unmarshal(content, &credentials); err != nil {
		return Credentials{}, fmt.Errorf("%s is damaged (remove it and enrol again): %w", path, err)
	}
	if err := credentials.check(); err != nil {
		return Credentials{}, fmt.Errorf("%s: %w (remove it and enrol again)", path, err)
	}
	return credentials, nil
}

func (c Credentials) check() error {
	if c.AgentID == "" || c.OpAMPURL == "" {
		return errors.New("agent_id or opamp_url is missing")
	}
	if c.Certificate == "" && c.Secret == "" {
		return errors.New("there is neither a certificate nor a secret")
	}
	if c.Certificate != "" {
		if _, _, err := c.keyPair(); err != nil {
			return err
		}
		if !strings.HasPrefix(c.OpAMPURL, "wss://") {
			return fmt.Errorf("opamp_url must be a wss address for an agent with a certificate, not %q", c.OpAMPURL)
		}
	}
	if _, err := uuid.Parse(c.InstanceUID); err != nil {
		return fmt.Errorf("instance_uid: %w", err)
	}
	_, err := c.Keys()
	return err
}

// Keys returns the pinned keys by id.
func (c Credentials) Keys() (map[string]command.Key, error) {
	keys := map[string]command.Key{}
	for _, key := range c.CommandKeys {
		if key.Alg != "EdDSA" {
			return nil, fmt.Errorf("command key %q is for %q; only EdDSA is accepted", key.KID, key.Alg)
		}
		raw, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(key.PublicKey, "="))
		if err != nil || len(raw) != ed25519.PublicKeySize {
			return nil, fmt.Errorf("command key %q is not %d bytes in base64url", key.KID, ed25519.PublicKeySize)
		}
		pinned := command.Key{Public: raw}
		if key.NotAfter != "" {
			if pinned.NotAfter, err = time.Parse(time.RFC3339, key.NotAfter); err != nil {
				return nil, fmt.Errorf("command key %q: not_after: %w", key.KID, err)
			}
		}
		if key.IntroducedAt != "" {
			if pinned.IntroducedAt, err = time.Parse(time.RFC3339, key.IntroducedAt); err != nil {
				return nil, fmt.Errorf("command key %q: introduced_at: %w", key.KID, err)
			}
		}
		keys[key.KID] = pinned
	}
	if len(keys) == 0 {
		return nil, errors.New("there is no command key, so no command could be trusted")
	}
	return keys, nil
}

// Save writes the credentials in one step, readable by the agent's user only.
func (c Credentials) Save(stateDir string) error {
	content, err := json.MarshalIndent(c, "", "  ") //nolint:gosec // G117: this file is where the secret is kept
	if err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(stateDir, credentialsFile), append(content, '\n'), 0o600)
}

// Address returns where to connect: the configured address, or the one of the enrolment. A configured address that an agent with a certificate
// cannot use dates from before it had one.
func (c Credentials) Address(configured string, log *slog.Logger) string {
	switch {
	case configured == "":
		return c.OpAMPURL
	case c.Certificate != "" && !strings.HasPrefix(configured, "wss://"):
		log.Warn("opamp_url of the configuration is not used: agents with certificates connect to a wss address", "configured", configured, "used", c.OpAMPURL)
		return c.OpAMPURL
	}
	return configured
}

// CredentialFile is the saved credentials of a state directory. It makes one change at a time: command keys and certificates arrive independently.
type CredentialFile struct {
	stateDir string
	mu       sync.Mutex
}

// NewCredentialFile returns the file in a state directory.
func NewCredentialFile(stateDir string) *CredentialFile { return &CredentialFile{stateDir: stateDir} }

// update reads, changes and writes the credentials; an error of the change leaves them as they are.
func (f *CredentialFile) update(change func(Credentials) (Credentials, error)) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	saved, err := LoadCredentials(f.stateDir)
	if err != nil {
		return err
	}
	if saved, err = change(saved); err != nil {
		return err
	}
	return saved.Save(f.stateDir)
}

// withKeys returns the credentials with other pinned keys.
func (c Credentials) withKeys(keys map[string]command.Key) Credentials {
	c.CommandKeys = nil
	for _, kid := range slices.Sorted(maps.Keys(keys)) {
		pinned := CommandKey{KID: kid, Alg: "EdDSA", PublicKey: base64.RawURLEncoding.EncodeToString(keys[kid].Public)}
		if end := keys[kid].NotAfter; !end.IsZero() {
			pinned.NotAfter = end.Format(time.RFC3339)
		}
		if at := keys[kid].IntroducedAt; !at.IsZero() {
			pinned.IntroducedAt = at.Format(time.RFC3339Nano)
		}
		c.CommandKeys = append(c.CommandKeys, pinned)
	}
	return c
}
