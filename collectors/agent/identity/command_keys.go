package identity

import (
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/wallwatch/wallwatch/collectors/agent/command"
)

// CommandKeys takes new command keys from the server and saves them with the other credentials.
type CommandKeys struct {
	file    *CredentialFile
	decoder *command.Decoder
	now     func() time.Time
	log     *slog.Logger

	mu      sync.Mutex
	refused string
}

// NewCommandKeys returns the keys that the decoder trusts.
func NewCommandKeys(file *CredentialFile, decoder *command.Decoder, now func() time.Time, log *slog.Logger) *CommandKeys {
	return &CommandKeys{file: file, decoder: decoder, now: now, log: log}
}

// Introduce pins the key in a message of the server. It is on the disk before it is trusted: after a crash in between the server introduces it again.
func (k *CommandKeys) Introduce(message []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	keys, kid, refusal := k.decoder.Introduce(message, k.now())
	if refusal != nil {
		k.refused = refusal.Error()
		k.log.Error("a new command key is not trusted", "code", refusal.Code, "reason", refusal.Message)
		return
	}
	if err := k.save(keys); err != nil {
		k.refused = fmt.Sprintf("not_kept: %v", err)
		k.log.Error("a new command key could not be saved and is not used", "kid", kid, "error", err)
		return
	}
	k.refused = ""
	k.log.Info("command key pinned", "kid", kid, "keys", strings.Join(k.decoder.KeyIDs(k.now()), " "))
}

func (k *CommandKeys) save(keys map[string]command.Key) error {
	err := k.file.update(func(saved Credentials) (Credentials, error) { return saved.withKeys(keys), nil })
	if err != nil {
		return err
	}
	return k.decoder.Pin(keys)
}

// State returns what the server wants to know: the ids of the keys that are trusted now, and why the last new one was not.
func (k *CommandKeys) State() (kids, refused string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return strings.Join(k.decoder.KeyIDs(k.now()), " "), k.refused
}
