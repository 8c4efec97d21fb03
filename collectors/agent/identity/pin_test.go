package identity

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"testing"
)

func TestAPinFollowsTheLastPointWhateverTheTokenIs(t *testing.T) {
	pin := bytes.Repeat([]byte{0xab}, 32)
	written, copied := base64.RawURLEncoding.EncodeToString(pin), hex.EncodeToString(pin)
	for name, token := range map[string]string{
		"of a token that the server made":                    "wwe_abc." + written,
		"of a service account, as people copy it":            "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhIn0.c2ln." + copied,
		"of a service account, as the server would write it": "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhIn0.c2ln." + written,
	} {
		t.Run(name, func(t *testing.T) {
			got, err := pinOf(token)
			if err != nil || !bytes.Equal(got, pin) {
				t.Errorf("got %x, %v", got, err)
			}
		})
	}
}

func TestATokenWithoutAPinHasNoneAndADamagedOneIsRefused(t *testing.T) {
	if pin, err := pinOf("wwe_abc"); pin != nil || err != nil {
		t.Errorf("got %x, %v", pin, err)
	}
	for _, token := range []string{"wwe_abc.", "wwe_abc.AAAA", "eyJ.eyJ.c2ln", "eyJ.eyJ.c2ln.zz"} {
		if pin, err := pinOf(token); err == nil {
			t.Errorf("%q: got %x", token, pin)
		}
	}
}
