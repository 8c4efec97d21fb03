// Package telemetrykey has the form of telemetry keys, with which a host proves its name in each message (docs/decisions/0015), and the file in
// which the agent leaves its host's key for the collector.
package telemetrykey

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
)

const (
	// Tag carries the key in each metric.
	Tag = "telemetry_key"
	// FileName is the key's path in the agent's state directory. It has a folder of its own, which a container can mount without the agent's
	// credentials, and in which the file can be replaced.
	FileName = "telemetry/key"

	context   = "wallwatch telemetry v1\n"
	prefix    = "wwt1_"
	maxFile   = 4096
	minSecret = sha256.Size
)

var form = regexp.MustCompile(`^` + prefix + `[A-Za-z0-9_-]{43}$`)

// Check returns an error that does not quote the key when it is not one.
func Check(key string) error {
	if !form.MatchString(key) {
		return fmt.Errorf("a telemetry key is %s and 43 characters of base64url (`wallwatch hosts telemetry-key HOST`), not %d bytes of another form",
			prefix, len(key))
	}
	return nil
}

// Read returns the key in a file.
func Read(path string) (string, error) {
	content, err := readSmall(path)
	if err != nil {
		return "", err
	}
	key := strings.TrimSpace(content)
	if err := Check(key); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return key, nil
}

// Of returns the key of a host.
func Of(secret []byte, host string) string {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(context + host))
	return prefix + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// ReadSecret returns the current secret of the server's file, from which a simulated fleet makes the keys of its hosts.
func ReadSecret(path string) ([]byte, error) {
	content, err := readSmall(path)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(content) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		secret, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(line, "="))
		if err != nil || len(secret) < minSecret {
			return nil, fmt.Errorf("%s: its first secret is not at least %d bytes in base64url", path, minSecret)
		}
		return secret, nil
	}
	return nil, fmt.Errorf("%s holds no secret", path)
}

func readSmall(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() || info.Size() > maxFile {
		return "", errors.New(path + " is not a small regular file")
	}
	content, err := os.ReadFile(path)
	return string(content), err
}
