package telemetrykey_test

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wallwatch/wallwatch/collectors/internal/telemetrykey"
)

// known is also in the doctest of the pipelines' keys.py: both sides compute the same key.
const known = "wwt1_KkNoX5-N8ivKIfiLpgLe6nL6xz5G7Q8LiXQjdcLMPNQ"

func TestAKeyIsWhatTheServerExpects(t *testing.T) {
	if key := telemetrykey.Of(make([]byte, 32), "host01"); key != known {
		t.Errorf("%s, not %s", key, known)
	}
	if telemetrykey.Of(make([]byte, 32), "host02") == known {
		t.Error("two hosts have one key")
	}
}

func TestAFileWithAnotherContentIsRefusedAndNotQuoted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	for content, good := range map[string]bool{
		known + "\n": true, "": false, known[:20]: false, known + "\" rack=\"x": false, "secret text": false, strings.Repeat("a", 5000): false,
	} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		key, err := telemetrykey.Read(path)
		if good != (err == nil) || good != (key == known) {
			t.Errorf("%.30q: %q, %v", content, key, err)
		}
		if err != nil && strings.Contains(err.Error(), "secret text") {
			t.Errorf("the error quotes the file: %v", err)
		}
	}
	if _, err := telemetrykey.Read(t.TempDir()); err == nil {
		t.Error("a folder was read")
	}
}

func TestTheCurrentSecretIsTheFirstOne(t *testing.T) {
	path := filepath.Join(t.TempDir(), "telemetry.secret")
	text := func(b byte) string {
		return base64.RawURLEncoding.EncodeToString([]byte(strings.Repeat(string(b), 32)))
	}
	for content, good := range map[string]bool{
		"# of the fleet\n\n" + text('a') + "=\n" + text('b') + "\n": true, text('a'): true, "": false, "c2hvcnQ": false, "not base64!": false,
	} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		secret, err := telemetrykey.ReadSecret(path)
		if good != (err == nil) || good != (string(secret) == strings.Repeat("a", 32)) {
			t.Errorf("%q: %q, %v", content, secret, err)
		}
	}
}
