// Package agenttest has what the tests of the agent's packages share: commands signed as the server signs them, a certificate authority like the
// server's, and a host's files.
package agenttest

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/uuid"

	"github.com/wallwatch/wallwatch/collectors/agent/command"
)

// ServerKey signs commands as k1.
var ServerKey = ed25519.NewKeyFromSeed([]byte("the server's key in these tests!"))

// Noon is the time at which commands are issued unless they say otherwise.
var Noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

const (
	// PCI is the RNIC of MakePCI.
	PCI = "0000:3b:00.0"
	// Token enrols a host.
	Token = "enrol-me-once" //nolint:gosec // G101: of tests
)

// Order is a command as the server makes it; zero fields get sensible values.
type Order struct {
	CommandID, RemedyID, Host, Action, Operation string
	Params                                       map[string]any
	IssuedAt, ExpiresAt                          time.Time
	Key                                          ed25519.PrivateKey
	KID                                          string
}

// Sign returns the message with the command.
func (o Order) Sign() []byte {
	set := func(field *string, value string) {
		if *field == "" {
			*field = value
		}
	}
	set(&o.CommandID, uuid.NewString())
	set(&o.RemedyID, uuid.NewString())
	set(&o.Host, "host01")
	set(&o.Action, "tune-revalidator")
	set(&o.Operation, command.Apply)
	set(&o.KID, "k1")
	if o.Key == nil {
		o.Key = ServerKey
	}
	if o.Params == nil {
		o.Params = map[string]any{}
	}
	if o.IssuedAt.IsZero() {
		o.IssuedAt = Noon
	}
	if o.ExpiresAt.IsZero() {
		o.ExpiresAt = o.IssuedAt.Add(5 * time.Minute)
	}
	return SignedBy(o.Key, o.KID, command.MessageType, map[string]any{
		"command_id": o.CommandID, "remedy_id": o.RemedyID, "host": o.Host, "action": o.Action, "operation": o.Operation, "params": o.Params,
		"issued_at": o.IssuedAt.UTC().Format(time.RFC3339), "expires_at": o.ExpiresAt.UTC().Format(time.RFC3339),
	})
}

// SignedBy returns a payload as a compact JWS of this type.
func SignedBy(key ed25519.PrivateKey, kid, kind string, payload any) []byte {
	content, err := json.Marshal(payload)
	if err != nil {
		panic(err)
	}
	options := (&jose.SignerOptions{}).WithHeader("kid", kid).WithType(jose.ContentType(kind))
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.EdDSA, Key: key}, options)
	if err != nil {
		panic(err)
	}
	object, err := signer.Sign(content)
	if err != nil {
		panic(err)
	}
	compact, err := object.CompactSerialize()
	if err != nil {
		panic(err)
	}
	return []byte(compact)
}

// Tune are parameters of tune-revalidator.
func Tune(milliseconds int) map[string]any { return map[string]any{"max_idle_ms": milliseconds} }

// PublicKey is that of a key as enrolment gives it.
func PublicKey(key ed25519.PrivateKey) string {
	return base64.RawURLEncoding.EncodeToString(key.Public().(ed25519.PublicKey))
}

// MakePCI creates the RNIC in a folder that stands for /sys.
func MakePCI(t testing.TB, sysfs string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(sysfs, "bus", "pci", "devices", PCI), 0o755); err != nil { //nolint:gosec // G301: as in /sys
		t.Fatal(err)
	}
}
