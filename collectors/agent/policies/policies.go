// Package policies keeps the compiled policies that the server sends, for the collector to read.
package policies

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"github.com/open-telemetry/opamp-go/protobufs"

	"github.com/wallwatch/wallwatch/collectors/internal/atomicfile"
	"github.com/wallwatch/wallwatch/collectors/internal/ltl"
)

// fileName is the name of the compiled policies, in the server's remote configuration and in their folder.
const fileName = "policies.json"

// folder of the state directory holds the policies only, so that the collector needs access to it alone and not to the agent's credentials and
// journal.
const folder = "policies"

// Store keeps the compiled policies. The processor ltl of the collector reads the file.
type Store struct {
	path string
	log  *slog.Logger
	mu   sync.Mutex
	hash string
}

// Open reads what an earlier run has kept. A file that cannot be used counts as none: the server sends its policies again.
func Open(stateDir string, log *slog.Logger) *Store {
	s := &Store{path: filepath.Join(stateDir, folder, fileName), log: log}
	text, err := os.ReadFile(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return s
	}
	if err == nil {
		_, s.hash, err = ltl.Parse(text)
	}
	if err != nil {
		s.hash = ""
		log.Warn("the saved policies cannot be used; the server will send them again", "file", s.path, "error", err)
	}
	return s
}

// Status is what the agent reports at the start of a connection; nil while there are no policies.
func (s *Store) Status() *protobufs.RemoteConfigStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hash == "" {
		return nil
	}
	return &protobufs.RemoteConfigStatus{LastRemoteConfigHash: []byte(s.hash), Status: protobufs.RemoteConfigStatuses_RemoteConfigStatuses_APPLIED}
}

// Accept saves the policies of a remote configuration. Those with a mistake are refused, and the previous ones stay.
func (s *Store) Accept(remote *protobufs.AgentRemoteConfig) *protobufs.RemoteConfigStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	status := &protobufs.RemoteConfigStatus{LastRemoteConfigHash: remote.ConfigHash, Status: protobufs.RemoteConfigStatuses_RemoteConfigStatuses_APPLIED}
	if err := s.save(remote); err != nil {
		s.log.Error("the server's policies are refused, the previous ones stay", "error", err)
		status.Status, status.ErrorMessage = protobufs.RemoteConfigStatuses_RemoteConfigStatuses_FAILED, err.Error()
	}
	return status
}

func (s *Store) save(remote *protobufs.AgentRemoteConfig) error {
	file := remote.GetConfig().GetConfigMap()[fileName]
	if file == nil {
		return fmt.Errorf("the remote configuration has no file %s", fileName)
	}
	policies, hash, err := ltl.Parse(file.Body)
	if err != nil {
		return err
	}
	if hash != string(remote.ConfigHash) {
		return fmt.Errorf("the remote configuration says %q and its policies %q", remote.ConfigHash, hash)
	}
	if hash == s.hash {
		return nil
	}
	// The collector runs as another user; policies are not secret.
	if err := os.MkdirAll(filepath.Dir(s.path), 0o755); err != nil { //nolint:gosec // G301: as said
		return fmt.Errorf("saving the policies: %w", err)
	}
	if err := atomicfile.Write(s.path, file.Body, 0o644); err != nil {
		return fmt.Errorf("saving the policies: %w", err)
	}
	s.hash = hash
	s.log.Info("policies of the server saved", "policies", len(policies), "hash", hash)
	return nil
}
