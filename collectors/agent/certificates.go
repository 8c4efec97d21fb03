package agent

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"time"
)

// CertificateCapability names the custom messages by which certificates are renewed.
const CertificateCapability = "com.wallwatch.certificate.v1"

// Types of its messages.
const (
	messageRenew       = "renew"
	messageRequest     = "request"
	messageCertificate = "certificate"
	messageRefused     = "refused"
)

// certificateStore renews this agent's certificate when the server asks for it, with a new key each time, and keeps it beside the other credentials.
// An agent that showed a secret until now gets its first certificate in the same way, and connects anew with it.
type certificateStore struct {
	host     string
	file     *credentialFile
	identity *identity // nil while a secret is shown
	moved    func()    // called when credentials of another kind are on the disk
	log      *slog.Logger

	requests chan []byte

	mu      sync.Mutex
	pending string // the private key that a certificate was asked for
}

func newCertificateStore(host string, file *credentialFile, identity *identity, moved func(), log *slog.Logger) *certificateStore {
	return &certificateStore{host: host, file: file, identity: identity, moved: moved, log: log, requests: make(chan []byte, 1)}
}

// take handles one message of the server.
func (s *certificateStore) take(kind string, data []byte) {
	switch kind {
	case messageRenew:
		s.renew()
	case messageCertificate:
		s.keep(data)
	case messageRefused:
		var refused struct {
			Reason string `json:"reason"`
		}
		_ = json.Unmarshal(data, &refused)
		s.log.Error("the server refused to renew the certificate", "reason", refused.Reason)
	default:
		s.log.Warn("the server sent a message of unknown type", "type", kind)
	}
}

func (s *certificateStore) renew() {
	key, request, err := newKey(s.host)
	if err != nil {
		s.log.Error("no key for a new certificate could be made", "error", err)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case s.requests <- []byte(request):
		s.pending = key
	default: // the request before is still on its way
	}
}

// keep takes a new certificate. It is on the disk before it is shown: the server revokes the one before when it sees the new one.
func (s *certificateStore) keep(data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var given struct {
		Certificate string   `json:"certificate"`
		Authorities []string `json:"authorities"`
		OpAMPURL    string   `json:"opamp_url"`
	}
	if err := json.Unmarshal(data, &given); err != nil || s.pending == "" {
		s.log.Error("the server sent a certificate that nobody asked for or that cannot be read", "error", err)
		return
	}
	var kept Credentials
	err := s.file.change(func(saved Credentials) (Credentials, error) {
		saved.Certificate, saved.Authorities, saved.PrivateKey, saved.Secret = given.Certificate, given.Authorities, s.pending, ""
		saved.OpAMPURL = given.OpAMPURL
		kept = saved
		return saved, saved.check()
	})
	if err != nil {
		s.log.Error("a new certificate cannot be used, the one before stays", "error", err)
		return
	}
	s.pending = ""
	shown, roots, err := kept.pair()
	if err != nil {
		s.log.Error("a new certificate cannot be used, the one before stays", "error", err)
		return
	}
	s.log.Info("certificate renewed", "serial", shown.Leaf.SerialNumber.Text(16), "not_after", shown.Leaf.NotAfter.UTC().Format(time.RFC3339))
	if s.identity == nil {
		s.moved()
		return
	}
	s.identity.replace(shown, roots)
}

// deliver sends requests until ctx ends.
func (s *certificateStore) deliver(ctx context.Context, send func(ctx context.Context, capability, kind string, data []byte)) {
	for {
		select {
		case <-ctx.Done():
			return
		case request := <-s.requests:
			send(ctx, CertificateCapability, messageRequest, request)
		}
	}
}
