package agent

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"time"
)

// hostURI is what an agent's certificate says of its host: this and the host's name.
const hostURI = "wallwatch://host/"

// identity is the certificate that this agent shows and the authorities that it trusts; both change while it runs.
type identity struct {
	mu    sync.Mutex
	shown tls.Certificate
	roots *x509.CertPool
}

// newIdentity reads what credentials say. It returns nil where they have no certificate: such an agent shows a secret.
func newIdentity(credentials Credentials) (*identity, error) {
	if credentials.Certificate == "" {
		return nil, nil
	}
	shown, roots, err := credentials.pair()
	if err != nil {
		return nil, err
	}
	return &identity{shown: shown, roots: roots}, nil
}

func (i *identity) replace(shown tls.Certificate, roots *x509.CertPool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.shown, i.roots = shown, roots
}

func (i *identity) current() (tls.Certificate, *x509.CertPool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.shown, i.roots
}

// tls returns settings for connections to a server of this name. Each handshake takes what there is at the time, so a renewed certificate needs no
// new connection.
func (i *identity) tls(server string) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13,
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			shown, _ := i.current()
			return &shown, nil
		},
		// The library's own check would hold the authorities of the start; VerifyConnection makes the same check with those of now.
		InsecureSkipVerify: true, //nolint:gosec // G402: VerifyConnection checks the chain and the name
		VerifyConnection: func(state tls.ConnectionState) error {
			_, roots := i.current()
			return verifyServer(state, server, roots)
		},
	}
}

// checkEnd is ill health when the certificate should have been renewed long ago, which the server asks for at half of its life.
func (i *identity) checkEnd(now time.Time) error {
	shown, _ := i.current()
	leaf := shown.Leaf
	switch life := leaf.NotAfter.Sub(leaf.NotBefore); {
	case now.After(leaf.NotAfter):
		return fmt.Errorf("this agent's certificate ended at %s: put a new token (`wallwatch agent enrol --host <host>`) into enrolment_token_file and "+
			"restart the agent, or run `wallwatch-agent enrol`", leaf.NotAfter.UTC().Format(time.RFC3339))
	case now.After(leaf.NotAfter.Add(-life / 8)):
		return fmt.Errorf("this agent's certificate ends at %s and was not renewed", leaf.NotAfter.UTC().Format(time.RFC3339))
	}
	return nil
}

// verifyServer checks that a server's certificate is for its name and comes from one of the roots (nil: those of this host).
func verifyServer(state tls.ConnectionState, server string, roots *x509.CertPool) error {
	if len(state.PeerCertificates) == 0 {
		return errors.New("the server showed no certificate")
	}
	between := x509.NewCertPool()
	for _, certificate := range state.PeerCertificates[1:] {
		between.AddCert(certificate)
	}
	_, err := state.PeerCertificates[0].Verify(x509.VerifyOptions{DNSName: server, Roots: roots, Intermediates: between})
	return err
}

// pair returns the certificate with its key, and the authorities, of credentials that have them.
func (c Credentials) pair() (tls.Certificate, *x509.CertPool, error) {
	shown, err := tls.X509KeyPair([]byte(c.Certificate), []byte(c.PrivateKey))
	if err != nil {
		return tls.Certificate{}, nil, fmt.Errorf("the certificate and its key: %w", err)
	}
	if shown.Leaf == nil { // older releases of Go leave it to us
		if shown.Leaf, err = x509.ParseCertificate(shown.Certificate[0]); err != nil {
			return tls.Certificate{}, nil, err
		}
	}
	if want := hostURI + url.PathEscape(c.Host); len(shown.Leaf.URIs) != 1 || shown.Leaf.URIs[0].String() != want {
		return tls.Certificate{}, nil, fmt.Errorf("the certificate is for %v, not for %s", shown.Leaf.URIs, want)
	}
	roots := x509.NewCertPool()
	for _, authority := range c.Authorities {
		if !roots.AppendCertsFromPEM([]byte(authority)) {
			return tls.Certificate{}, nil, errors.New("an authority is no certificate in PEM")
		}
	}
	// At a time when it certainly was valid, because this host's clock may be wrong; the server judges by its own.
	purpose := x509.VerifyOptions{Roots: roots, CurrentTime: shown.Leaf.NotBefore.Add(time.Second), KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
	if _, err := shown.Leaf.Verify(purpose); err != nil {
		return tls.Certificate{}, nil, fmt.Errorf("the certificate does not come from the authorities beside it: %w", err)
	}
	return shown, roots, nil
}

// ended says whether the certificate is of no use any more by this host's clock.
func (c Credentials) ended(now time.Time) bool {
	if c.Certificate == "" {
		return false
	}
	shown, _, err := c.pair()
	return err == nil && now.After(shown.Leaf.NotAfter)
}

// newKey makes a private key, which never leaves this host, and the request for its certificate. Both are PEM.
func newKey(host string) (key, request string, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", "", err
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return "", "", err
	}
	name := &url.URL{Scheme: "wallwatch", Host: "host", Path: "/" + host}
	template := &x509.CertificateRequest{Subject: pkix.Name{CommonName: "Wallwatch agent"}, URIs: []*url.URL{name}}
	der, err := x509.CreateCertificateRequest(rand.Reader, template, private)
	if err != nil {
		return "", "", err
	}
	key = string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded}))
	return key, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der})), nil
}

// pinOf returns what a token says of the authority: the SHA-256 of its certificate, after the last point. Tokens of servers without certificates
// have none.
func pinOf(token string) ([]byte, error) {
	_, text, found := strings.Cut(token, ".")
	if !found {
		return nil, nil
	}
	pin, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(pin) != sha256.Size {
		return nil, errors.New("the enrolment token is damaged: copy the whole line that `wallwatch agent enrol` printed")
	}
	return pin, nil
}

func isPinned(certificate *x509.Certificate, pin []byte) bool {
	sum := sha256.Sum256(certificate.Raw)
	return string(sum[:]) == string(pin)
}

// hasPinned says whether an authority that a token names is among those that the server gave.
func hasPinned(authorities []string, pin []byte) bool {
	for _, authority := range authorities {
		block, _ := pem.Decode([]byte(authority))
		if block == nil {
			continue
		}
		if certificate, err := x509.ParseCertificate(block.Bytes); err == nil && isPinned(certificate, pin) {
			return true
		}
	}
	return false
}
