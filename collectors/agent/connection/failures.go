package connection

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"github.com/wallwatch/wallwatch/collectors/internal/problemjson"
)

// probeInterval is how often the agent asks the server why it refuses it. The server answers each attempt, but the OpAMP client drops the answer.
const probeInterval = 10 * time.Minute

// failure is why the server cannot be reached: a code to search for, what is wrong, and what to do about it.
type failure struct{ code, reason, do string }

// explain names the cause of a failed connection where it lies in certificates or TLS. It returns false where the error's text is clear enough,
// such as for a closed port.
func explain(err error, now time.Time) (failure, bool) {
	var (
		name    x509.HostnameError
		unknown x509.UnknownAuthorityError
		invalid x509.CertificateInvalidError
		noTLS   tls.RecordHeaderError
		remote  *net.OpError
	)
	switch {
	case errors.As(err, &name):
		return failure{"wrong_name", err.Error(), "set WALLWATCH_AGENT_URL of the server to the address that hosts use, or opamp_url here to the server's name"}, true
	case errors.As(err, &unknown):
		return failure{"unknown_authority", "the server's certificate comes from no authority that this agent trusts", "check that the address is the server's " +
			"where this agent was enrolled and that no proxy terminates TLS; if its authority was replaced, enrol this agent again"}, true
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return failure{"server_certificate_expired", err.Error(), fmt.Sprintf("set the clock of this host, which says %s, or that of the server",
			now.UTC().Format(time.RFC3339))}, true
	case errors.As(err, &invalid):
		return failure{"bad_server_certificate", err.Error(), "check that no proxy between this host and the server terminates TLS"}, true
	case errors.As(err, &noTLS):
		return failure{"no_tls", "the server does not speak TLS at this address", "set opamp_url to the server's port for agents (its WALLWATCH_AGENT_URL)"}, true
	case errors.As(err, &remote) && remote.Op == "remote error":
		return refusedInHandshake(remote.Err.Error()), true
	}
	return failure{}, false
}

// refusedInHandshake explains the TLS alert with which the server ended a handshake.
func refusedInHandshake(alert string) failure {
	again := "enrol this agent again: remove credentials.json and put a new token (`wallwatch agent enrol --host <host>`) into enrolment_token_file"
	switch alert = strings.TrimPrefix(alert, "tls: "); {
	case strings.Contains(alert, "certificate authority"):
		return failure{"unknown_authority", "the server does not know the authority of this agent's certificate", again}
	case strings.Contains(alert, "expired"):
		return failure{"certificate_expired", "this agent's certificate has expired, says the server", again}
	case strings.Contains(alert, "certificate required"):
		return failure{"certificate_needed", "the server requires a certificate, and this agent has none", again}
	case strings.Contains(alert, "certificate"):
		return failure{"bad_certificate", "the server rejects this agent's certificate: " + alert, again}
	case strings.Contains(alert, "protocol version"):
		return failure{"old_tls", "the server and this agent have no TLS version in common", "update this agent or the server"}
	}
	return failure{"handshake_refused", "the server ended the handshake: " + alert, "see the server's log (`agent_handshake_failed`)"}
}

// opampLogger passes the OpAMP library's messages on. What it calls errors are failed attempts to connect and broken connections; it tries again
// by itself, so they are warnings here.
type opampLogger struct {
	log *slog.Logger
	// refusal asks the server for the reason of a refusal.
	refusal func(ctx context.Context) string
}

func (o *opampLogger) Debugf(context.Context, string, ...any) {}

func (o *opampLogger) Errorf(ctx context.Context, format string, v ...any) {
	attributes := []any{"problem", fmt.Sprintf(format, v...)}
	for _, value := range v {
		err, ok := value.(error)
		if !ok {
			continue
		}
		if cause, ok := explain(err, time.Now()); ok {
			attributes = append(attributes, "code", cause.code, "reason", cause.reason, "do", cause.do)
		}
		if errors.Is(err, websocket.ErrBadHandshake) && o.refusal != nil {
			if reason := o.refusal(ctx); reason != "" {
				attributes = append(attributes, "server_says", reason)
			}
		}
	}
	o.log.Warn("connection to the server", attributes...)
}

// refusalProbe connects as the OpAMP client does, to read the server's answer.
type refusalProbe struct {
	address  string
	header   http.Header
	settings *tls.Config

	mu   sync.Mutex
	last time.Time
}

// reason returns why the server refuses this agent, as code and sentence; "" when it was asked recently or gives no reason.
func (p *refusalProbe) reason(ctx context.Context) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.last.IsZero() && time.Since(p.last) < probeInterval {
		return ""
	}
	p.last = time.Now()
	dialer := websocket.Dialer{Proxy: http.ProxyFromEnvironment, HandshakeTimeout: 10 * time.Second, TLSClientConfig: p.settings}
	conn, response, err := dialer.DialContext(ctx, p.address, p.header)
	if err == nil {
		_ = conn.Close()
		return ""
	}
	if response == nil {
		return ""
	}
	defer func() { _ = response.Body.Close() }()
	body := make([]byte, 1024) // as much as the dialer keeps
	read, _ := response.Body.Read(body)
	return problemjson.Summary(body[:read])
}
