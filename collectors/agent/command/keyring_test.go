package command

import (
	"crypto/ed25519"
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

var newPair = ed25519.NewKeyFromSeed([]byte("a new seed of exactly 32 bytes!!"))

func introducing(change func(map[string]any)) map[string]any {
	payload := map[string]any{
		"kid": "k2", "public_key": base64.RawURLEncoding.EncodeToString(newPair.Public().(ed25519.PublicKey)),
		"issued_at": "2026-11-21T03:00:00Z", "expires_at": "2027-02-21T03:00:00Z",
		"retires": []map[string]string{{"kid": "k1", "not_after": "2026-11-28T03:00:00Z"}},
	}
	if change != nil {
		change(payload)
	}
	return payload
}

func byOld(payload map[string]any) []byte {
	return sign(keyPair, jose.EdDSA, "k1", KeyMessageType, encode(payload))
}

func TestANewKeySignedByAPinnedOneIsTrustedAndTheOldOneEndsAfterTheOverlap(t *testing.T) {
	d := newDecoder(t)
	keys, kid, refusal := d.Introduce(byOld(introducing(nil)), issued)
	if refusal != nil || kid != "k2" {
		t.Fatalf("got %q, %v", kid, refusal)
	}
	byNew := sign(newPair, jose.EdDSA, "k2", MessageType, encode(payload()))
	if _, refusal := d.Decode(byNew); refusal == nil || refusal.Code != CodeUnknownKey {
		t.Fatalf("trusted before it was pinned: %v", refusal)
	}
	if err := d.Pin(keys); err != nil {
		t.Fatal(err)
	}
	for name, message := range map[string][]byte{"old": good(encode(payload())), "new": byNew} {
		command, refusal := d.Decode(message)
		if refusal != nil {
			t.Fatalf("%s: %v", name, refusal)
		}
		if refusal := command.CheckTime(issued.Add(time.Minute), time.Time{}); refusal != nil {
			t.Errorf("%s: %v", name, refusal)
		}
	}
	if got := d.KeyIDs(issued); strings.Join(got, " ") != "k1 k2" {
		t.Errorf("in the overlap the keys are %v", got)
	}
	if got := d.KeyIDs(issued.Add(8 * 24 * time.Hour)); strings.Join(got, " ") != "k2" {
		t.Errorf("after the overlap the keys are %v", got)
	}
}

func TestWhatARetiredKeySignedIsRefused(t *testing.T) {
	d := newDecoder(t)
	end := issued.Add(-time.Minute)
	if err := d.Pin(map[string]Key{"k1": {Public: keyPair.Public().(ed25519.PublicKey), NotAfter: end}}); err != nil {
		t.Fatal(err)
	}
	command, refusal := d.Decode(good(encode(payload())))
	if refusal != nil {
		t.Fatal(refusal)
	}
	if refusal := command.CheckTime(issued, time.Time{}); refusal == nil || refusal.Code != CodeRetiredKey || !refusal.Authentic {
		t.Errorf("a command of a retired key: %v", refusal)
	}
	if _, _, refusal := d.Introduce(byOld(introducing(nil)), issued); refusal == nil || refusal.Code != CodeRetiredKey {
		t.Errorf("a new key by a retired one: %v", refusal)
	}
}

func TestAKeyIsNotIntroducedByWhoeverMay(t *testing.T) {
	set := func(name string, value any) func(map[string]any) {
		return func(payload map[string]any) { payload[name] = value }
	}
	oldPublic := base64.RawURLEncoding.EncodeToString(keyPair.Public().(ed25519.PublicKey))
	for name, c := range map[string]struct {
		message []byte
		code    string
	}{
		"signed by a stranger":         {sign(otherKey, jose.EdDSA, "k1", KeyMessageType, encode(introducing(nil))), CodeBadSignature},
		"signed by itself":             {sign(newPair, jose.EdDSA, "k2", KeyMessageType, encode(introducing(nil))), CodeUnknownKey},
		"signed as a command":          {sign(keyPair, jose.EdDSA, "k1", MessageType, encode(introducing(nil))), CodeMalformed},
		"a command":                    {good(encode(payload())), CodeMalformed},
		"too large":                    {make([]byte, MaxBytes+1), CodeMalformed},
		"no JWS":                       {[]byte("key"), CodeMalformed},
		"too old":                      {byOld(introducing(set("expires_at", "2026-11-20T03:00:00Z"))), CodeExpired},
		"from the future":              {byOld(introducing(set("issued_at", "2026-11-21T04:00:00Z"))), CodeNotYetValid},
		"a key of another length":      {byOld(introducing(set("public_key", "AAAA"))), CodeMalformed},
		"another key under a known id": {byOld(introducing(set("kid", "k1"))), CodeMalformed},
		"retires itself":               {byOld(introducing(set("retires", []map[string]string{{"kid": "k2", "not_after": "2026-11-22T03:00:00Z"}}))), CodeMalformed},
		"an id of more than 100":       {byOld(introducing(set("kid", strings.Repeat("k", 101)))), CodeMalformed},
		"an unknown field":             {byOld(introducing(set("KID", "k3"))), CodeMalformed},
		"the old key under a third":    {byOld(introducing(func(p map[string]any) { p["kid"], p["public_key"] = "", oldPublic })), CodeMalformed},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDecoder(t)
			if _, _, refusal := d.Introduce(c.message, issued); refusal == nil || refusal.Code != c.code {
				t.Errorf("got %v, want %s", refusal, c.code)
			}
			if got := d.KeyIDs(issued); len(got) != 1 {
				t.Errorf("the keys are now %v", got)
			}
		})
	}
}

func TestAKeyIDMayHave100Characters(t *testing.T) {
	long := strings.Repeat("k", 100)
	message := byOld(introducing(func(p map[string]any) { p["kid"] = long }))
	if _, kid, refusal := newDecoder(t).Introduce(message, issued); refusal != nil || kid != long {
		t.Errorf("got %q, %v", kid, refusal)
	}
}

func TestAnIntroductionTakesEffectOnce(t *testing.T) {
	d := newDecoder(t)
	message := byOld(introducing(nil))
	keys, _, _ := d.Introduce(message, issued)
	_ = d.Pin(keys)
	later := introducing(func(p map[string]any) {
		p["retires"] = []map[string]string{{"kid": "k1", "not_after": "2027-01-01T00:00:00Z"}}
	})
	again, _, refusal := d.Introduce(byOld(later), issued)
	if refusal != nil {
		t.Fatal(refusal)
	}
	if len(again) != 2 || !again["k1"].NotAfter.Equal(keys["k1"].NotAfter) {
		t.Errorf("an end moved to a later time: %v", again["k1"].NotAfter)
	}
}

func FuzzIntroduce(f *testing.F) {
	f.Add(byOld(introducing(nil)))
	f.Add(good(encode(payload())))
	f.Fuzz(func(t *testing.T, message []byte) {
		d := newDecoder(t)
		keys, _, refusal := d.Introduce(message, issued)
		if refusal == nil && string(message) != string(byOld(introducing(nil))) && len(keys) > 1 {
			t.Errorf("a key is trusted because of %q", message)
		}
	})
}

// `wallwatch keys rotate --overlap-hours 0` ends a stolen key; its thief may be able to set the host's clock back.
func TestAKeyThatEndedWhenTheNextCameStaysRetiredWhateverTheClockSays(t *testing.T) {
	d := newDecoder(t)
	atOnce := introducing(func(p map[string]any) {
		p["retires"] = []map[string]string{{"kid": "k1", "not_after": "2026-11-21T03:00:00Z"}}
	})
	keys, _, refusal := d.Introduce(byOld(atOnce), issued)
	if refusal != nil {
		t.Fatal(refusal)
	}
	if err := d.Pin(keys); err != nil {
		t.Fatal(err)
	}
	before := issued.Add(-time.Hour)
	command, refusal := d.Decode(good(encode(payload())))
	if refusal != nil {
		t.Fatal(refusal)
	}
	command.IssuedAt = before
	if refusal := command.CheckTime(before, time.Time{}); refusal == nil || refusal.Code != CodeRetiredKey {
		t.Errorf("a command of the stolen key: %v", refusal)
	}
	thirds := introducing(func(p map[string]any) { p["kid"], p["issued_at"] = "k3", before.Format(time.RFC3339) })
	if _, _, refusal := d.Introduce(byOld(thirds), before); refusal == nil || refusal.Code != CodeRetiredKey {
		t.Errorf("a key that the stolen one introduces: %v", refusal)
	}
	if got := d.KeyIDs(before); strings.Join(got, " ") != "k2" {
		t.Errorf("the keys are %v", got)
	}
}
