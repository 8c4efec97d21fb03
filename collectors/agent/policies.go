package agent

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

// PoliciesFile is the name of the compiled policies, in the server's remote configuration and in their folder.
const PoliciesFile = "policies.json"

// policiesFolder of the state directory holds nothing but the policies, so that the collector may be shown it alone: it has no business
// with the agent's credentials and journal.
const policiesFolder = "policies"

// policyStore keeps the compiled policies that the server sends. The processor ltl of the collector reads the file.
type policyStore struct {
	path string
	log  *slog.Logger
	mu   sync.Mutex
	hash string
}

// openPolicies finds what an earlier run has kept. A file that cannot be used counts as none: the server sends its policies again.
func openPolicies(stateDir string, log *slog.Logger) *policyStore {
	s := &policyStore{path: filepath.Join(stateDir, policiesFolder, PoliciesFile), log: log}
	if err := os.Remove(filepath.Join(stateDir, PoliciesFile)); err != nil && !errors.Is(err, fs.ErrNotExist) { // where it was kept once
		log.Warn("the policies of an older agent are left where they were", "error", err)
	}
	text, err := os.ReadFile(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return s
	}
	if err == nil {
		_, s.hash, err = ltl.Parse(text)
	}
	if err != nil {
		s.hash = ""
		log.Warn("the policies that were kept cannot be used; the server will send them again", "file", s.path, "error", err)
	}
	return s
}

// status is what the server is told at the start of a connection; nil while there are no policies.
func (s *policyStore) status() *protobufs.RemoteConfigStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hash == "" {
		return nil
	}
	return &protobufs.RemoteConfigStatus{LastRemoteConfigHash: []byte(s.hash), Status: protobufs.RemoteConfigStatuses_RemoteConfigStatuses_APPLIED}
}

// take keeps the policies of a remote configuration. Those with a mistake are refused, and the ones before stay.
func (s *policyStore) take(remote *protobufs.AgentRemoteConfig) *protobufs.RemoteConfigStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	status := &protobufs.RemoteConfigStatus{LastRemoteConfigHash: remote.ConfigHash, Status: protobufs.RemoteConfigStatuses_RemoteConfigStatuses_APPLIED}
	if err := s.keep(remote); err != nil {
		s.log.Error("policies of the server are not taken, those before stay", "error", err)
		status.Status, status.ErrorMessage = protobufs.RemoteConfigStatuses_RemoteConfigStatuses_FAILED, err.Error()
	}
	return status
}

func (s *policyStore) keep(remote *protobufs.AgentRemoteConfig) error {
	file := remote.GetConfig().GetConfigMap()[PoliciesFile]
	if file == nil {
		return fmt.Errorf("the remote configuration has no file %s", PoliciesFile)
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
	// The collector runs as another user; policies are no secret.
	if err := os.MkdirAll(filepath.Dir(s.path), 0o755); err != nil { //nolint:gosec // G301: as said
		return fmt.Errorf("keeping the policies: %w", err)
	}
	if err := atomicfile.Write(s.path, file.Body, 0o644); err != nil {
		return fmt.Errorf("keeping the policies: %w", err)
	}
	s.hash = hash
	s.log.Info("policies taken from the server", "policies", len(policies), "hash", hash)
	return nil
}
