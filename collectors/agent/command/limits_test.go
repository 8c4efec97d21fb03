package command

import (
	"crypto/ed25519"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// The limits are part of the contract with the server, and another one is a change of it: docs/contracts.md.
func TestTheLimitsAreThoseOfTheContract(t *testing.T) {
	if Skew != 30*time.Second || MaxLifetime != 24*time.Hour || MaxBytes != 16384 || maxKeys != 16 {
		t.Errorf("clocks may differ by %s, a command is valid for %s, a message has %d bytes, %d keys are pinned", Skew, MaxLifetime, MaxBytes, maxKeys)
	}
}

func TestAMessageOfTheGreatestSizeIsReadAndALargerOneIsNot(t *testing.T) {
	d := newDecoder(t)
	for kind, c := range map[string]struct {
		of   func(padding string) []byte
		read func(message []byte) *Refusal
	}{
		"a command": {
			func(padding string) []byte { return good(with("action", padding)) },
			func(message []byte) *Refusal { _, refusal := d.Decode(message); return refusal },
		},
		"an introduction": {
			// Too long an id is refused as well, but by the payload's check.
			func(padding string) []byte { return byOld(introducing(func(p map[string]any) { p["kid"] = padding })) },
			func(message []byte) *Refusal { _, _, refusal := d.Introduce(message, issued); return refusal },
		},
	} {
		sizes := map[int]bool{}
		for padding := 11_800; padding < 12_100; padding++ {
			message := c.of(strings.Repeat("a", padding))
			if len(message) < MaxBytes-4 || len(message) > MaxBytes+4 {
				continue
			}
			refusal := c.read(message)
			tooLarge := refusal != nil && strings.Contains(refusal.Message, "is the most")
			if tooLarge != (len(message) > MaxBytes) {
				t.Errorf("%s of %d bytes: %v", kind, len(message), refusal)
			}
			sizes[len(message)] = true
		}
		// Base64 has no text of every length: a command of exactly the greatest size does not exist with this key's id.
		if (!sizes[MaxBytes] && !sizes[MaxBytes-1]) || (!sizes[MaxBytes+1] && !sizes[MaxBytes+2]) {
			t.Errorf("%s: only the sizes %v were tried", kind, sizes)
		}
	}
}

func TestAnIntroductionIsRefusedForWhatIsWrongWithIt(t *testing.T) {
	valid := string(encode(introducing(nil)))
	change := func(name string, value any) string {
		return string(encode(introducing(func(payload map[string]any) { payload[name] = value })))
	}
	noRetirement := func(name string, value any) string {
		return string(encode(introducing(func(payload map[string]any) { payload[name], payload["retires"] = value, nil })))
	}
	for name, c := range map[string]struct{ payload, why string }{
		"no object":                    {"[]", "not a JSON object"},
		"a name that appears twice":    {strings.Replace(valid, "{", `{"kid":"k2",`, 1), "appears twice"},
		"two objects":                  {valid + "{}", "something after the object"},
		"an id that is a number":       {change("kid", 7), "payload: json"},
		"retirements that are no list": {change("retires", "k1"), "payload: json"},
		"another key under a known id": {noRetirement("kid", "k1"), "another key with the id"},
		"no time of issue":             {change("issued_at", "yesterday"), "issued_at is not an RFC 3339 time"},
		"no time of expiry":            {change("expires_at", "tomorrow"), "expires_at is not an RFC 3339 time"},
		"no time of retirement":        {change("retires", []map[string]string{{"kid": "k1", "not_after": "soon"}}), "not_after is not an RFC 3339 time"},
		"a key that is no base64url":   {change("public_key", "!"), "public_key is not 32 bytes"},
	} {
		_, _, refusal := newDecoder(t).Introduce(sign(keyPair, jose.EdDSA, "k1", KeyMessageType, []byte(c.payload)), issued)
		if refusal == nil || refusal.Code != CodeMalformed || !strings.Contains(refusal.Message, c.why) {
			t.Errorf("%s: %v, want %q", name, refusal, c.why)
		}
	}
}

func TestACommandIsRefusedForWhatIsWrongWithIt(t *testing.T) {
	valid := string(encode(payload()))
	for name, c := range map[string]struct{ payload, why string }{
		"no object":                  {"7", "payload: not a JSON object"},
		"an object that is not open": {"", "payload: not JSON"},
		"a value that is no JSON":    {`{"host": }`, "is not JSON"},
		"a name that is no JSON":     {`{host: 1}`, "not JSON: invalid character"},
		"an object that is cut off":  {strings.TrimSuffix(valid, "}"), "payload: the object is not closed"},
		"parameters that are a list": {string(with("params", []int{})), "params: not a JSON object"},
		"no time of issue":           {string(with("issued_at", "yesterday")), "issued_at is not an RFC 3339 time"},
		"no time of expiry":          {string(with("expires_at", "tomorrow")), "expires_at is not an RFC 3339 time"},
		"expiry at its issue":        {string(with("expires_at", "2026-11-21T03:00:00Z")), "expires_at is not after issued_at"},
		"a second more than a day":   {string(with("expires_at", "2026-11-22T03:00:01Z")), "the maximum is 24h"},
	} {
		_, refusal := newDecoder(t).Decode(good([]byte(c.payload)))
		if refusal == nil || refusal.Code != CodeMalformed || !strings.Contains(refusal.Message, c.why) {
			t.Errorf("%s: %v, want %q", name, refusal, c.why)
		}
	}
	if _, refusal := newDecoder(t).Decode(good(with("expires_at", "2026-11-22T03:00:00Z"))); refusal != nil {
		t.Errorf("a command of exactly a day: %v", refusal)
	}
	if _, refusal := newDecoder(t).Decode(good(with("expires_at", "2026-11-21T03:00:00.000000001Z"))); refusal != nil {
		t.Errorf("a command that is valid for a nanosecond: %v", refusal)
	}
}

// Whoever sent a message that is not to be trusted may have put anything where an id belongs.
func TestOfAMessageThatIsNotTrustedOnlyIDsThatAreUUIDsArePassedOn(t *testing.T) {
	const other = "not-a-uuid\nforged log line"
	for name, c := range map[string]struct{ claimedCommand, claimedRemedy, command, remedy string }{
		"both":              {commandID, remedyID, commandID, remedyID},
		"a forged remedy":   {commandID, other, commandID, ""},
		"no remedy":         {commandID, "", commandID, ""},
		"a forged command":  {other, remedyID, "", ""},
		"two forged ids":    {other, other, "", ""},
		"an id and a space": {commandID + " ", remedyID, "", ""},
	} {
		content := payload()
		content["command_id"], content["remedy_id"] = c.claimedCommand, c.claimedRemedy
		_, refusal := newDecoder(t).Decode(sign(newPair, jose.EdDSA, "k1", MessageType, encode(content)))
		if refusal == nil || refusal.Code != CodeBadSignature || refusal.CommandID != c.command || refusal.RemedyID != c.remedy {
			t.Errorf("%s: %+v, want the ids %q and %q", name, refusal, c.command, c.remedy)
		}
	}
}

func TestSixteenKeysArePinnedAtMost(t *testing.T) {
	keys := map[string]Key{}
	for number := range maxKeys - 1 {
		keys[fmt.Sprintf("k%d", number+10)] = Key{Public: newPair.Public().(ed25519.PublicKey)}
	}
	delete(keys, "k10")
	keys["k1"] = newDecoder(t).ring.copy()["k1"]
	d := newDecoder(t)
	if err := d.Pin(keys); err != nil {
		t.Fatal(err)
	}
	sixteen, _, refusal := d.Introduce(byOld(introducing(nil)), issued)
	if refusal != nil || len(sixteen) != maxKeys {
		t.Fatalf("the sixteenth key: %d, %v", len(sixteen), refusal)
	}
	full := maps.Clone(keys)
	full["k99"] = keys["k11"]
	if err := d.Pin(full); err != nil {
		t.Fatal(err)
	}
	if _, _, refusal := d.Introduce(byOld(introducing(nil)), issued); refusal == nil || !strings.Contains(refusal.Message, "16 keys are pinned") {
		t.Errorf("the seventeenth key: %v", refusal)
	}
}

func TestAKeyOfAnotherLengthIsNeverPinned(t *testing.T) {
	short := map[string]Key{"k1": {Public: keyPair.Public().(ed25519.PublicKey)[:31]}}
	if _, err := NewDecoder("host01", short); err == nil {
		t.Error("a decoder with a key of 31 bytes")
	}
	d := newDecoder(t)
	if err := d.Pin(short); err == nil || !strings.Contains(err.Error(), "31 bytes") {
		t.Errorf("pinned a key of 31 bytes: %v", err)
	}
	if got := d.KeyIDs(issued); len(got) != 1 || len(d.ring.copy()["k1"].Public) != 32 {
		t.Errorf("the keys have changed to %v", got)
	}
}

func TestForeignTextIsCutAfterSixtyCharacters(t *testing.T) {
	if got := quote(strings.Repeat("x", 60)); got != `"`+strings.Repeat("x", 60)+`"` {
		t.Errorf("60 characters: %s", got)
	}
	if got := quote(strings.Repeat("x", 61)); got != `"`+strings.Repeat("x", 60)+`..."` {
		t.Errorf("61 characters: %s", got)
	}
}
