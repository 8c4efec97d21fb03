package identity

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"time"
)

// hostURI and the host's name are the URI in an agent's certificate.
const hostURI = "wallwatch://host/"

// Certificate is the client certificate that this agent presents and the authorities that it trusts; both change while it runs.
type Certificate struct {
	mu        sync.Mutex
	presented tls.Certificate
	roots     *x509.CertPool
}

// NewCertificate reads the certificate in credentials. It returns nil where they have none: such an agent authenticates with a secret.
func NewCertificate(credentials Credentials) (*Certificate, error) {
	if credentials.Certificate == "" {
		return nil, nil
	}
	presented, roots, err := credentials.keyPair()
	if err != nil {
		return nil, err
	}
	return &Certificate{presented: presented, roots: roots}, nil
}

func (c *Certificate) replace(presented tls.Certificate, roots *x509.CertPool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.presented, c.roots = presented, roots
}

func (c *Certificate) current() (tls.Certificate, *x509.CertPool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.presented, c.roots
}

// TLS returns settings for connections to a server of this name. Each handshake uses the certificate of the moment, so a renewed one needs no
// new connection.
func (c *Certificate) TLS(server string) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13,
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			presented, _ := c.current()
			return &presented, nil
		},
		// The library's own check would keep the authorities of the start; VerifyConnection makes the same check with the current ones.
		InsecureSkipVerify: true, //nolint:gosec // G402: VerifyConnection checks the chain and the name
		VerifyConnection: func(state tls.ConnectionState) error {
			_, roots := c.current()
			return verifyServer(state, server, roots)
		},
	}
}

// CheckExpiry returns an error when the certificate has expired, or will soon although the server renews it at half of its life.
func (c *Certificate) CheckExpiry(now time.Time) error {
	presented, _ := c.current()
	leaf := presented.Leaf
	switch life := leaf.NotAfter.Sub(leaf.NotBefore); {
	case now.After(leaf.NotAfter):
		return fmt.Errorf("this agent's certificate expired at %s: put a new token (`wallwatch agent enrol --host <host>`) into enrolment_token_file and "+
			"restart the agent, or run `wallwatch-agent enrol`", leaf.NotAfter.UTC().Format(time.RFC3339))
	case now.After(leaf.NotAfter.Add(-life / 8)):
		return fmt.Errorf("this agent's certificate expires at %s and was not renewed", leaf.NotAfter.UTC().Format(time.RFC3339))
	}
	return nil
}

// verifyServer checks that a server's certificate is for its name and comes from one of the roots (nil: those of this host).
func verifyServer(state tls.ConnectionState, server string, roots *x509.CertPool) error {
	if len(state.PeerCertificates) == 0 {
		return errors.New("the server presented no certificate")
	}
	intermediates := x509.NewCertPool()
	for _, certificate := range state.PeerCertificates[1:] {
		intermediates.AddCert(certificate)
	}
	_, err := state.PeerCertificates[0].Verify(x509.VerifyOptions{DNSName: server, Roots: roots, Intermediates: intermediates})
	return err
}

// keyPair returns the certificate with its key, and the authorities, of credentials that have them.
func (c Credentials) keyPair() (tls.Certificate, *x509.CertPool, error) {
	presented, err := tls.X509KeyPair([]byte(c.Certificate), []byte(c.PrivateKey))
	if err != nil {
		return tls.Certificate{}, nil, fmt.Errorf("the certificate and its key: %w", err)
	}
	if presented.Leaf == nil { // older releases of Go do not parse it
		if presented.Leaf, err = x509.ParseCertificate(presented.Certificate[0]); err != nil {
			return tls.Certificate{}, nil, err
		}
	}
	if want := hostURI + url.PathEscape(c.Host); len(presented.Leaf.URIs) != 1 || presented.Leaf.URIs[0].String() != want {
		return tls.Certificate{}, nil, fmt.Errorf("the certificate is for %v, not for %s", presented.Leaf.URIs, want)
	}
	roots := x509.NewCertPool()
	for _, authority := range c.Authorities {
		if !roots.AppendCertsFromPEM([]byte(authority)) {
			return tls.Certificate{}, nil, errors.New("an authority is not a PEM certificate")
		}
	}
	// Checked at a time when it was certainly valid, because this host's clock may be wrong; the server judges by its own.
	purpose := x509.VerifyOptions{
		Roots: roots, CurrentTime: presented.Leaf.NotBefore.Add(time.Second), KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	if _, err := presented.Leaf.Verify(purpose); err != nil {
		return tls.Certificate{}, nil, fmt.Errorf("the certificate does not come from the authorities that came with it: %w", err)
	}
	return presented, roots, nil
}

// expired reports whether the certificate has expired by this host's clock.
func (c Credentials) expired(now time.Time) bool {
	if c.Certificate == "" {
		return false
	}
	presented, _, err := c.keyPair()
	return err == nil && now.After(presented.Leaf.NotAfter)
}
