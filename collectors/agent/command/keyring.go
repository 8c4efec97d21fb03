package command

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// KeyMessageType is the value of the header `typ` of a message that introduces a new command key.
const KeyMessageType = "wallwatch-key+jws"

// maxKeys bounds the pinned keys: after so many rotations without the old ones ending, something is wrong.
const maxKeys = 16

// Key is a pinned key. What it signed is not accepted after NotAfter; the zero time says that it has no end.
type Key struct {
	Public   ed25519.PublicKey
	NotAfter time.Time
	// IntroducedAt is when the server introduced the key, by the server's clock; the zero time for a key of the enrolment.
	IntroducedAt time.Time
}

// retired reports whether the key has ended, by the host's clock or by a time that the server has signed and that has been reached, whatever the
// host's clock says now.
func (k Key) retired(now, reached time.Time) bool {
	return !k.NotAfter.IsZero() && (now.After(k.NotAfter) || !reached.Before(k.NotAfter))
}

// keyring holds the pinned keys by their id. Keys come while commands are checked.
type keyring struct {
	mu   sync.RWMutex
	keys map[string]Key
}

func (r *keyring) find(kid string) (Key, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	key, known := r.keys[kid]
	return key, known
}

func (r *keyring) copy() map[string]Key {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return maps.Clone(r.keys)
}

// asOf returns when the newest key was introduced.
func (r *keyring) asOf() time.Time {
	var newest time.Time
	for _, key := range r.copy() {
		if key.IntroducedAt.After(newest) {
			newest = key.IntroducedAt
		}
	}
	return newest
}

func (r *keyring) replace(keys map[string]Key) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.keys = keys
}

var introductionNames = []string{"kid", "public_key", "issued_at", "expires_at", "retires"}

// introduction is the payload of a message that introduces a key.
type introduction struct {
	KID       string `json:"kid"`
	PublicKey string `json:"public_key"`
	IssuedAt  string `json:"issued_at"`
	ExpiresAt string `json:"expires_at"`
	Retires   []struct {
		KID      string `json:"kid"`
		NotAfter string `json:"not_after"`
	} `json:"retires"`
}

// Introduce reads a message that introduces a new key, signed by a pinned one that has not been retired, and returns the keys as they are to be
// from now on, and the new one's id. Nothing is changed: the caller keeps them first and then calls Pin. The same message again changes nothing.
func (d *Decoder) Introduce(message []byte, now time.Time) (map[string]Key, string, *Refusal) {
	if len(message) > MaxBytes {
		return nil, "", refuse(CodeMalformed, "the message has %d bytes, %d is the most", len(message), MaxBytes)
	}
	payload, signer, refusal := d.verify(string(message), KeyMessageType)
	if refusal != nil {
		return nil, "", refusal
	}
	if signer.retired(now, d.ring.asOf()) {
		return nil, "", refuse(CodeRetiredKey, "the key that signed it was retired at %s", signer.NotAfter.Format(time.RFC3339))
	}
	fields, err := strictObject(payload)
	if err != nil {
		return nil, "", refuse(CodeMalformed, "payload: %v", err)
	}
	for name := range fields {
		if !slices.Contains(introductionNames, name) {
			return nil, "", refuse(CodeMalformed, "payload: unknown field %s", quote(name))
		}
	}
	var said introduction
	if err := json.Unmarshal(payload, &said); err != nil {
		return nil, "", refuse(CodeMalformed, "payload: %v", err)
	}
	public, issued, refusal := said.check(now)
	if refusal != nil {
		return nil, "", refusal
	}
	keys := d.ring.copy()
	if known, ok := keys[said.KID]; ok && !slices.Equal(known.Public, public) {
		return nil, "", refuse(CodeMalformed, "another key with the id %s is pinned", quote(said.KID))
	} else if !ok {
		keys[said.KID] = Key{Public: public, IntroducedAt: issued}
	}
	if len(keys) > maxKeys {
		return nil, "", refuse(CodeMalformed, "%d keys are pinned; enrol the agent again", maxKeys)
	}
	for _, end := range said.Retires {
		if refusal := retire(keys, said.KID, end.KID, end.NotAfter); refusal != nil {
			return nil, "", refusal
		}
	}
	return keys, said.KID, nil
}

// check returns the public key of an introduction that is valid at now, and when it was issued.
func (i introduction) check(now time.Time) (ed25519.PublicKey, time.Time, *Refusal) {
	public, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(i.PublicKey, "="))
	if err != nil || len(public) != ed25519.PublicKeySize {
		return nil, time.Time{}, refuse(CodeMalformed, "public_key is not %d bytes in base64url", ed25519.PublicKeySize)
	}
	if i.KID == "" || len(i.KID) > 100 {
		return nil, time.Time{}, refuse(CodeMalformed, "kid must have 1 to 100 characters")
	}
	issued, err := time.Parse(time.RFC3339, i.IssuedAt)
	if err != nil {
		return nil, time.Time{}, refuse(CodeMalformed, "issued_at is not an RFC 3339 time: %s", quote(i.IssuedAt))
	}
	expires, err := time.Parse(time.RFC3339, i.ExpiresAt)
	if err != nil {
		return nil, time.Time{}, refuse(CodeMalformed, "expires_at is not an RFC 3339 time: %s", quote(i.ExpiresAt))
	}
	if now.Add(Skew).Before(issued) {
		return nil, time.Time{}, refuse(CodeNotYetValid, "issued at %s, but this host's clock says %s", issued.Format(time.RFC3339), now.UTC().Format(time.RFC3339))
	}
	if now.Add(-Skew).After(expires) {
		return nil, time.Time{}, refuse(CodeExpired, "expired at %s; enrol the agent again", expires.Format(time.RFC3339))
	}
	return public, issued.UTC(), nil
}

// retire gives a key its end. An end never moves to a later time, and the key that is introduced has none.
func retire(keys map[string]Key, introduced, kid, notAfter string) *Refusal {
	end, err := time.Parse(time.RFC3339, notAfter)
	if err != nil {
		return refuse(CodeMalformed, "not_after is not an RFC 3339 time: %s", quote(notAfter))
	}
	if kid == introduced {
		return refuse(CodeMalformed, "a key cannot be introduced and retired at once")
	}
	if key, known := keys[kid]; known && (key.NotAfter.IsZero() || end.Before(key.NotAfter)) {
		key.NotAfter = end.UTC()
		keys[kid] = key
	}
	return nil
}

// Pin replaces the pinned keys.
func (d *Decoder) Pin(keys map[string]Key) error {
	if err := checkKeys(keys); err != nil {
		return err
	}
	d.ring.replace(maps.Clone(keys))
	return nil
}

// KeyIDs returns the ids of the keys that are good at a time, sorted.
func (d *Decoder) KeyIDs(now time.Time) []string {
	var ids []string
	asOf := d.ring.asOf()
	for kid, key := range d.ring.copy() {
		if !key.retired(now, asOf) {
			ids = append(ids, kid)
		}
	}
	slices.Sort(ids)
	return ids
}

func checkKeys(keys map[string]Key) error {
	for kid, key := range keys {
		if len(key.Public) != ed25519.PublicKeySize {
			return fmt.Errorf("command key %q has %d bytes, an Ed25519 key has %d", kid, len(key.Public), ed25519.PublicKeySize)
		}
	}
	return nil
}
