package identity

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"time"
)

// Types of the messages that renew a certificate.
const (
	messageRenew       = "renew"
	messageRequest     = "request"
	messageCertificate = "certificate"
	messageRefused     = "refused"
)

// Renewal replaces this agent's certificate when the server asks for it, with a new key each time, and saves it with the other credentials.
// An agent that had a secret until now gets its first certificate in the same way, and reconnects with it.
type Renewal struct {
	host        string
	file        *CredentialFile
	certificate *Certificate // nil while the agent authenticates with a secret
	replaced    func()       // called when a certificate has replaced the secret on the disk
	log         *slog.Logger

	requests chan []byte

	mu      sync.Mutex
	pending string // the private key for which a certificate was requested
}

// NewRenewal renews certificate, which is nil while the agent authenticates with a secret; secretReplaced is called when that ends.
func NewRenewal(host string, file *CredentialFile, certificate *Certificate, secretReplaced func(), log *slog.Logger) *Renewal {
	return &Renewal{host: host, file: file, certificate: certificate, replaced: secretReplaced, log: log, requests: make(chan []byte, 1)}
}

// Handle handles one message of the server.
func (r *Renewal) Handle(kind string, data []byte) {
	switch kind {
	case messageRenew:
		r.request()
	case messageCertificate:
		r.accept(data)
	case messageRefused:
		var refused struct {
			Reason string `json:"reason"`
		}
		_ = json.Unmarshal(data, &refused)
		r.log.Error("the server refused to renew the certificate", "reason", refused.Reason)
	default:
		r.log.Warn("the server sent a message of unknown type", "type", kind)
	}
}

func (r *Renewal) request() {
	key, request, err := newKeyPair(r.host)
	if err != nil {
		r.log.Error("no key for a new certificate could be created", "error", err)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case r.requests <- []byte(request):
		r.pending = key
	default: // the previous request is still on its way
	}
}

// accept takes a new certificate. It is on the disk before it is presented: the server revokes the previous one when it sees the new one.
func (r *Renewal) accept(data []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var issued struct {
		Certificate string   `json:"certificate"`
		Authorities []string `json:"authorities"`
		OpAMPURL    string   `json:"opamp_url"`
	}
	if err := json.Unmarshal(data, &issued); err != nil || r.pending == "" {
		r.log.Error("the server sent a certificate that was not requested or cannot be read", "error", err)
		return
	}
	var updated Credentials
	err := r.file.update(func(saved Credentials) (Credentials, error) {
		saved.Certificate, saved.Authorities, saved.PrivateKey, saved.Secret = issued.Certificate, issued.Authorities, r.pending, ""
		saved.OpAMPURL = issued.OpAMPURL
		updated = saved
		return saved, saved.check()
	})
	if err != nil {
		r.log.Error("a new certificate cannot be used, the previous one stays", "error", err)
		return
	}
	r.pending = ""
	presented, roots, err := updated.keyPair()
	if err != nil {
		r.log.Error("a new certificate cannot be used, the previous one stays", "error", err)
		return
	}
	r.log.Info("certificate renewed", "serial", presented.Leaf.SerialNumber.Text(16), "not_after", presented.Leaf.NotAfter.UTC().Format(time.RFC3339))
	if r.certificate == nil {
		r.replaced()
		return
	}
	r.certificate.replace(presented, roots)
}

// SendRequests sends requests until ctx ends.
func (r *Renewal) SendRequests(ctx context.Context, send func(ctx context.Context, kind string, data []byte)) {
	for {
		select {
		case <-ctx.Done():
			return
		case request := <-r.requests:
			send(ctx, messageRequest, request)
		}
	}
}
