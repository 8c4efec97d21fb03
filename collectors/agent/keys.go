package agent

import (
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/wallwatch/wallwatch/collectors/agent/command"
)

// keyStore takes new command keys from the server and keeps them beside the other credentials.
type keyStore struct {
	file    *credentialFile
	decoder *command.Decoder
	now     func() time.Time
	log     *slog.Logger

	mu      sync.Mutex
	refused string
}

// take pins the key that a message introduces. It is on the disk before it is trusted, so that a crash in between leaves an agent that is told again.
func (s *keyStore) take(message []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	keys, kid, refusal := s.decoder.Introduce(message, s.now())
	if refusal != nil {
		s.refused = refusal.Error()
		s.log.Error("a new command key is not trusted", "code", refusal.Code, "reason", refusal.Message)
		return
	}
	if err := s.keep(keys); err != nil {
		s.refused = fmt.Sprintf("not_kept: %v", err)
		s.log.Error("a new command key could not be kept and is not used", "kid", kid, "error", err)
		return
	}
	s.refused = ""
	s.log.Info("command key pinned", "kid", kid, "keys", strings.Join(s.decoder.KeyIDs(s.now()), " "))
}

func (s *keyStore) keep(keys map[string]command.Key) error {
	err := s.file.change(func(saved Credentials) (Credentials, error) { return saved.withKeys(keys), nil })
	if err != nil {
		return err
	}
	return s.decoder.Pin(keys)
}

// state returns the ids of the keys that are trusted now, and why the last new one was not; both are told to the server.
func (s *keyStore) state() (kids, refused string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.decoder.KeyIDs(s.now()), " "), s.refused
}
