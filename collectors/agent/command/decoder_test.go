package command

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

const (
	commandID = "0b6f3a52-54c1-4a2e-9d3c-2f0a4f3b9c11"
	remedyID  = "7d1e0c44-8a55-4c39-8b1f-5e3f6a2b7c22"
)

var (
	issued   = time.Date(2026, 11, 21, 3, 0, 0, 0, time.UTC)
	keySeed  = []byte("a seed of exactly 32 bytes, ok!!")
	keyPair  = ed25519.NewKeyFromSeed(keySeed)
	otherKey = ed25519.NewKeyFromSeed([]byte("another seed of exactly 32 byte!"))
)

func payload() map[string]any {
	return map[string]any{
		"command_id": commandID, "remedy_id": remedyID, "host": "host01", "action": "tune-revalidator", "operation": "apply",
		"params": map[string]any{"max_idle_ms": 60000}, "issued_at": "2026-11-21T03:00:00Z", "expires_at": "2026-11-21T03:05:00Z",
	}
}

func with(name string, value any) []byte {
	changed := payload()
	if value == nil {
		delete(changed, name)
	} else {
		changed[name] = value
	}
	return encode(changed)
}

func encode(value any) []byte {
	content, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return content
}

func sign(key any, algorithm jose.SignatureAlgorithm, kid, typ string, content []byte) []byte {
	options := (&jose.SignerOptions{}).WithHeader("kid", kid)
	if typ != "" {
		options = options.WithType(jose.ContentType(typ))
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: algorithm, Key: key}, options)
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

func good(content []byte) []byte { return sign(keyPair, jose.EdDSA, "k1", MessageType, content) }

func newDecoder(t testing.TB) *Decoder {
	t.Helper()
	decoder, err := NewDecoder("host01", map[string]Key{"k1": {Public: keyPair.Public().(ed25519.PublicKey)}})
	if err != nil {
		t.Fatal(err)
	}
	return decoder
}

func TestAWellSignedCommandIsReadCompletely(t *testing.T) {
	cmd, refusal := newDecoder(t).Decode(good(encode(payload())))
	if refusal != nil {
		t.Fatal(refusal)
	}
	if cmd.CommandID != commandID || cmd.RemedyID != remedyID || cmd.Action != "tune-revalidator" || cmd.Operation != Apply ||
		string(cmd.Params["max_idle_ms"]) != "60000" || !cmd.IssuedAt.Equal(issued) || cmd.ExpiresAt.Sub(issued) != 5*time.Minute {
		t.Errorf("read %+v", cmd)
	}
}

func TestEachDefectOfAMessageHasItsRefusalCode(t *testing.T) {
	unsigned := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none","kid":"k1","typ":"`+MessageType+`"}`)) + "." +
		base64.RawURLEncoding.EncodeToString(encode(payload())) + "."
	tampered := strings.Split(string(good(encode(payload()))), ".")
	tampered[1] = base64.RawURLEncoding.EncodeToString(with("host", "host02"))
	hmac := sign([]byte(strings.Repeat("k", 32)), jose.HS256, "k1", MessageType, encode(payload()))
	cases := map[string]struct {
		message   []byte
		code      string
		authentic bool
	}{
		"signed with another key under a pinned id":  {sign(otherKey, jose.EdDSA, "k1", MessageType, encode(payload())), CodeBadSignature, false},
		"payload exchanged after signing":            {[]byte(strings.Join(tampered, ".")), CodeBadSignature, false},
		"algorithm none":                             {[]byte(unsigned), CodeBadSignature, false},
		"HMAC keyed with something public":           {hmac, CodeBadSignature, false},
		"a key id that is not pinned":                {sign(keyPair, jose.EdDSA, "k9", MessageType, encode(payload())), CodeUnknownKey, false},
		"a token of another type":                    {sign(keyPair, jose.EdDSA, "k1", "JWT", encode(payload())), CodeMalformed, false},
		"a token without a type":                     {sign(keyPair, jose.EdDSA, "k1", "", encode(payload())), CodeMalformed, false},
		"nothing":                                    {nil, CodeMalformed, false},
		"not a JWS":                                  {[]byte("reboot"), CodeMalformed, false},
		"more than the size limit":                   {good(with("action", strings.Repeat("a", MaxBytes))), CodeMalformed, false},
		"another host":                               {good(with("host", "host02")), CodeWrongHost, true},
		"the host's name in another case":            {good(with("host", "HOST01")), CodeWrongHost, true},
		"a payload that is not JSON":                 {good([]byte("{")), CodeMalformed, true},
		"a payload that is a list":                   {good([]byte("[]")), CodeMalformed, true},
		"something after the payload":                {good(append(encode(payload()), '1')), CodeMalformed, true},
		"an unknown field":                           {good(with("shell", "rm -rf /")), CodeMalformed, true},
		"a field name in another case":               {good([]byte(strings.Replace(string(encode(payload())), `"host"`, `"Host"`, 1))), CodeMalformed, true},
		"a field twice":                              {good([]byte(strings.Replace(string(encode(payload())), `{`, `{"host":"host02",`, 1))), CodeMalformed, true},
		"no host":                                    {good(with("host", nil)), CodeMalformed, true},
		"no params":                                  {good(with("params", nil)), CodeMalformed, true},
		"params that are a list":                     {good(with("params", []int{1})), CodeMalformed, true},
		"a command id that is not a UUID":            {good(with("command_id", "../../etc/passwd")), CodeMalformed, true},
		"a number for a text":                        {good(with("action", 7)), CodeMalformed, true},
		"an operation that does not exist":           {good(with("operation", "exec")), CodeMalformed, true},
		"a time that is no time":                     {good(with("issued_at", "yesterday")), CodeMalformed, true},
		"an end before its start":                    {good(with("expires_at", "2026-11-21T02:59:59Z")), CodeMalformed, true},
		"a lifetime longer than the journal answers": {good(with("expires_at", "2026-11-22T03:00:01Z")), CodeMalformed, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			cmd, refusal := newDecoder(t).Decode(c.message)
			if cmd != nil || refusal == nil {
				t.Fatalf("accepted as %+v", cmd)
			}
			if refusal.Code != c.code || refusal.Authentic != c.authentic {
				t.Errorf("refused with %s (authentic %v): %s; expected %s (authentic %v)", refusal.Code, refusal.Authentic, refusal.Message, c.code, c.authentic)
			}
		})
	}
}

func TestARejectedMessageIsReportedWithTheIDsItClaims(t *testing.T) {
	_, refusal := newDecoder(t).Decode(sign(otherKey, jose.EdDSA, "k1", MessageType, encode(payload())))
	if refusal.CommandID != commandID || refusal.RemedyID != remedyID || refusal.Authentic {
		t.Errorf("reported as %+v", refusal)
	}
	_, refusal = newDecoder(t).Decode(sign(otherKey, jose.EdDSA, "k1", MessageType, with("command_id", "<script>")))
	if refusal.CommandID != "" {
		t.Errorf("an id that is not a UUID was passed on: %q", refusal.CommandID)
	}
}

func TestClocksMayDifferByTheSkewButNotMore(t *testing.T) {
	cmd, refusal := newDecoder(t).Decode(good(encode(payload())))
	if refusal != nil {
		t.Fatal(refusal)
	}
	for _, c := range []struct {
		at   time.Time
		code string
	}{
		{issued.Add(-Skew - time.Second), CodeNotYetValid},
		{issued.Add(-Skew), ""},
		{issued.Add(time.Minute), ""},
		{cmd.ExpiresAt.Add(Skew), ""},
		{cmd.ExpiresAt.Add(Skew + time.Second), CodeExpired},
	} {
		code := ""
		if refusal := cmd.CheckTime(c.at, time.Time{}); refusal != nil {
			code = refusal.Code
			if !refusal.Authentic || refusal.CommandID != commandID {
				t.Errorf("at %s: the refusal does not name its command: %+v", c.at, refusal)
			}
		}
		if code != c.code {
			t.Errorf("at %s: %q, expected %q", c.at, code, c.code)
		}
	}
}

func TestADecoderWithoutAUsableKeyIsNotBuilt(t *testing.T) {
	if _, err := NewDecoder("host01", nil); err == nil {
		t.Error("built without keys")
	}
	if _, err := NewDecoder("host01", map[string]Key{"k1": {Public: make([]byte, 31)}}); err == nil {
		t.Error("built with a short key")
	}
	if _, err := NewDecoder("", map[string]Key{"k1": {Public: make([]byte, 32)}}); err == nil {
		t.Error("built without a host")
	}
}

// FuzzDecode looks for a message that is accepted although its signature was not made by the pinned key, and for panics.
func FuzzDecode(f *testing.F) {
	valid := good(encode(payload()))
	f.Add(valid)
	f.Add([]byte(""))
	f.Add([]byte("a.b.c"))
	f.Add(good([]byte(`{"command_id":null}`)))
	f.Add(sign(otherKey, jose.EdDSA, "k1", MessageType, encode(payload())))
	decoder := newDecoder(f)
	f.Fuzz(func(t *testing.T, message []byte) {
		cmd, refusal := decoder.Decode(message)
		if (cmd == nil) == (refusal == nil) {
			t.Fatalf("neither accepted nor refused: %v %v", cmd, refusal)
		}
		if cmd == nil {
			return
		}
		parts := strings.Split(string(message), ".")
		signature, err := base64.RawURLEncoding.DecodeString(strings.TrimSpace(parts[2]))
		if err != nil || !ed25519.Verify(keyPair.Public().(ed25519.PublicKey), []byte(parts[0]+"."+parts[1]), signature) {
			t.Fatalf("accepted without a good signature: %q", message)
		}
	})
}

// FuzzPayload looks for a signed payload whose reading differs from the standard decoder's, or that panics.
func FuzzPayload(f *testing.F) {
	f.Add(encode(payload()))
	f.Add([]byte(`{"params":{}}`))
	f.Add([]byte(`{"host":"a","host":"b"}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		cmd, refusal := parsePayload(content)
		if (cmd == nil) == (refusal == nil) {
			t.Fatalf("neither accepted nor refused: %v %v", cmd, refusal)
		}
		if cmd == nil {
			return
		}
		var plain struct {
			CommandID string `json:"command_id"`
			Host      string `json:"host"`
			Operation string `json:"operation"`
		}
		if err := json.Unmarshal(content, &plain); err != nil || plain.CommandID != cmd.CommandID || plain.Host != cmd.Host || plain.Operation != cmd.Operation {
			t.Fatalf("read as %+v, the standard decoder has %+v (%v)", cmd, plain, err)
		}
	})
}
