package agent

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
)

// askAgain is how often the server is asked why it refuses this agent. It answers each attempt; the OpAMP client drops what it says.
const askAgain = 10 * time.Minute

// problem is why the server cannot be reached: a code for searches, what is wrong, and what to do about it.
type problem struct{ code, reason, do string }

// explain names what a failed connection says of certificates and TLS. It is false for what its text says well enough, such as a closed port.
func explain(err error, now time.Time) (problem, bool) {
	var (
		name    x509.HostnameError
		unknown x509.UnknownAuthorityError
		invalid x509.CertificateInvalidError
		noTLS   tls.RecordHeaderError
		remote  *net.OpError
	)
	switch {
	case errors.As(err, &name):
		return problem{"wrong_name", err.Error(), "set WALLWATCH_AGENT_URL of the server to the address that hosts use, or opamp_url here to the server's"}, true
	case errors.As(err, &unknown):
		return problem{"unknown_authority", "the server's certificate comes from no authority that this agent knows", "see that the address is of the server " +
			"where this agent was enrolled and that nothing between ends TLS; if its authority was replaced, enrol this agent again"}, true
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return problem{"server_certificate_expired", err.Error(), fmt.Sprintf("set the clock of this host, which says %s, or that of the server",
			now.UTC().Format(time.RFC3339))}, true
	case errors.As(err, &invalid):
		return problem{"bad_server_certificate", err.Error(), "see that nothing between this host and the server ends TLS"}, true
	case errors.As(err, &noTLS):
		return problem{"no_tls", "the server does not speak TLS at this address", "set opamp_url to the port of agents (WALLWATCH_AGENT_URL of the server)"}, true
	case errors.As(err, &remote) && remote.Op == "remote error":
		return refusedInHandshake(remote.Err.Error()), true
	}
	return problem{}, false
}

// refusedInHandshake explains the alert with which the server ended a handshake.
func refusedInHandshake(alert string) problem {
	again := "enrol this agent again: remove credentials.json and put a new token (`wallwatch agent enrol --host <host>`) into enrolment_token_file"
	switch alert = strings.TrimPrefix(alert, "tls: "); {
	case strings.Contains(alert, "certificate authority"):
		return problem{"unknown_authority", "the server does not know the authority of this agent's certificate", again}
	case strings.Contains(alert, "expired"):
		return problem{"certificate_expired", "the server finds this agent's certificate expired", again}
	case strings.Contains(alert, "certificate required"):
		return problem{"certificate_needed", "the server wants a certificate, and this agent has none", again}
	case strings.Contains(alert, "certificate"):
		return problem{"bad_certificate", "the server does not take this agent's certificate: " + alert, again}
	case strings.Contains(alert, "protocol version"):
		return problem{"old_tls", "the server and this agent have no version of TLS in common", "update this agent or the server"}
	}
	return problem{"handshake_refused", "the server ended the handshake: " + alert, "see the server's log (`agent_handshake_failed`)"}
}

// opampLogger passes the library's messages on. What it calls errors are failed attempts to connect and broken connections; it tries again by
// itself, so they are warnings here.
type opampLogger struct {
	log *slog.Logger
	// why asks the server for the reason of a refusal.
	why func(ctx context.Context) string
}

func (o *opampLogger) Debugf(context.Context, string, ...any) {}

func (o *opampLogger) Errorf(ctx context.Context, format string, v ...any) {
	about := []any{"problem", fmt.Sprintf(format, v...)}
	for _, value := range v {
		err, ok := value.(error)
		if !ok {
			continue
		}
		if found, ok := explain(err, time.Now()); ok {
			about = append(about, "code", found.code, "reason", found.reason, "do", found.do)
		}
		if errors.Is(err, websocket.ErrBadHandshake) && o.why != nil {
			if said := o.why(ctx); said != "" {
				about = append(about, "server_says", said)
			}
		}
	}
	o.log.Warn("connection to the server", about...)
}

// asker connects as the OpAMP client does, for the server's words.
type asker struct {
	address  string
	header   http.Header
	settings *tls.Config

	mu    sync.Mutex
	asked time.Time
}

// why returns what the server says to a refused agent, as code and sentence; empty when it was asked lately or says nothing.
func (a *asker) why(ctx context.Context) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.asked.IsZero() && time.Since(a.asked) < askAgain {
		return ""
	}
	a.asked = time.Now()
	dialer := websocket.Dialer{Proxy: http.ProxyFromEnvironment, HandshakeTimeout: 10 * time.Second, TLSClientConfig: a.settings}
	conn, response, err := dialer.DialContext(ctx, a.address, a.header)
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
	return strings.TrimPrefix(problemDetail(body[:read]), ": ")
}
