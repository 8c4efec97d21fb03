package connection

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/wallwatch/wallwatch/collectors/agent/agenttest"
	"github.com/wallwatch/wallwatch/collectors/agent/identity"
)

// clientTLS is an agent's settings, with a certificate of one authority, that trusts another.
func clientTLS(t *testing.T, signing, trusted *agenttest.Authority, server string) *tls.Config {
	t.Helper()
	settingsOf := func(authority *agenttest.Authority) *tls.Config {
		certificate, key := authority.ClientCertificate("host01")
		own, err := identity.NewCertificate(identity.Credentials{
			Host: "host01", Certificate: certificate, PrivateKey: key, Authorities: []string{authority.PEM()},
		})
		if err != nil {
			t.Fatal(err)
		}
		return own.TLS(server)
	}
	settings := settingsOf(trusted)
	settings.GetClientCertificate = settingsOf(signing).GetClientCertificate
	return settings
}

func dialWith(address string, settings *tls.Config) error {
	dialer := websocket.Dialer{TLSClientConfig: settings, HandshakeTimeout: 10 * time.Second}
	conn, response, err := dialer.Dial(address, nil)
	if response != nil && response.Body != nil {
		_ = response.Body.Close()
	}
	if err == nil {
		_ = conn.Close()
	}
	return err
}

func TestAFailedHandshakeIsExplainedByItsReason(t *testing.T) {
	ours, others := agenttest.NewAuthority(t, "ours"), agenttest.NewAuthority(t, "others")
	server := ours.Server(http.NotFoundHandler())
	demanding := ours.Server(http.NotFoundHandler())
	demanding.TLS.ClientAuth = tls.RequireAndVerifyClientCert
	demanding.TLS.ClientCAs = ours.Pool()
	plain := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(plain.Close)
	wss := func(address string) string { return "wss" + address[strings.Index(address, ":"):] }
	late := clientTLS(t, ours, ours, "127.0.0.1")
	late.InsecureSkipVerify, late.VerifyConnection, late.RootCAs = false, nil, ours.Pool()
	late.Time = func() time.Time { return time.Now().Add(2 * time.Hour) }
	cases := map[string]struct {
		address  string
		settings *tls.Config
	}{
		"wrong_name":                 {wss(server.URL), clientTLS(t, ours, ours, "wallwatch.example")},
		"unknown_authority":          {wss(server.URL), clientTLS(t, ours, others, "127.0.0.1")},
		"server_certificate_expired": {wss(server.URL), late},
		"no_tls":                     {wss(plain.URL), clientTLS(t, ours, ours, "127.0.0.1")},
	}
	for code, tried := range cases {
		t.Run(code, func(t *testing.T) {
			found, ok := explain(dialWith(tried.address, tried.settings), time.Now())
			if !ok || found.code != code || found.reason == "" || found.do == "" {
				t.Errorf("got %+v, %v", found, ok)
			}
		})
	}
	t.Run("a clock that is behind", func(t *testing.T) {
		early := late.Clone()
		early.Time = func() time.Time { return time.Now().AddDate(0, 0, -2) }
		found, ok := explain(dialWith(wss(server.URL), early), early.Time())
		if !ok || found.code != "server_certificate_expired" || !strings.Contains(found.reason, "not yet valid") || !strings.Contains(found.do, "clock") {
			t.Errorf("got %+v, %v", found, ok)
		}
	})
	t.Run("the server's refusals", func(t *testing.T) {
		for code, settings := range map[string]*tls.Config{
			"unknown_authority":  clientTLS(t, others, ours, "127.0.0.1"),
			"certificate_needed": {RootCAs: late.RootCAs, MinVersion: tls.VersionTLS13},
		} {
			if found, ok := explain(dialWith(wss(demanding.URL), settings), time.Now()); !ok || found.code != code {
				t.Errorf("%s: got %+v, %v", code, found, ok)
			}
		}
	})
}

func TestOtherFailuresOfAConnectionKeepTheirText(t *testing.T) {
	for _, err := range []error{
		errors.New("no route"), fmt.Errorf("dial: %w", &net.OpError{Op: "dial", Err: errors.New("connection refused")}), websocket.ErrBadHandshake,
	} {
		if found, ok := explain(err, time.Now()); ok {
			t.Errorf("%v: %+v", err, found)
		}
	}
}

func TestEveryAlertOfTheServerHasARemedy(t *testing.T) {
	for alert, code := range map[string]string{
		"tls: expired certificate": "certificate_expired", "tls: bad certificate": "bad_certificate", "tls: protocol version not supported": "old_tls",
		"tls: internal error": "handshake_refused",
	} {
		if found := refusedInHandshake(alert); found.code != code || found.do == "" {
			t.Errorf("%s: %+v", alert, found)
		}
	}
}

func TestWhatTheServerSaysToARefusedAgentIsLoggedOnceInAWhile(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte(`{"code": "certificate_expired", "detail": "it ended yesterday. Enrol the agent again."}`))
	}))
	defer server.Close()
	var out bytes.Buffer
	logger := &opampLogger{log: slog.New(slog.NewTextHandler(&out, nil)), refusal: (&refusalProbe{address: "ws" + server.URL[len("http"):]}).reason}
	for range 3 {
		logger.Errorf(context.Background(), "Connection failed (%v), will retry.", websocket.ErrBadHandshake)
	}
	if asked != 1 || strings.Count(out.String(), "it ended yesterday") != 1 || strings.Count(out.String(), "bad handshake") != 3 {
		t.Errorf("asked %d times:\n%s", asked, out.String())
	}
}
