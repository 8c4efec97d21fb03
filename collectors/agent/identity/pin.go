package identity

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// pinOf returns the fingerprint of the authority in an enrolment token: the SHA-256 of its certificate, after the last point, as the server
// writes it or as people copy it (hexadecimal). Tokens of servers without certificates have none.
func pinOf(token string) ([]byte, error) {
	last := strings.LastIndexByte(token, '.')
	if last < 0 {
		return nil, nil
	}
	text := token[last+1:]
	decode := base64.RawURLEncoding.DecodeString
	if len(text) == hex.EncodedLen(sha256.Size) {
		decode = hex.DecodeString
	}
	pin, err := decode(text)
	if err != nil || len(pin) != sha256.Size {
		return nil, errors.New("the enrolment token is damaged: copy the whole line that `wallwatch agent enrol` printed")
	}
	return pin, nil
}

func isPinned(certificate *x509.Certificate, pin []byte) bool {
	sum := sha256.Sum256(certificate.Raw)
	return string(sum[:]) == string(pin)
}

// hasPinned reports whether the authority that a token pins is among those of the server's answer.
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

// pinnedClient returns a client that also trusts a server whose certificate comes from the authority that a token pins, so that the first
// contact needs no other authority. A server behind a proxy with a certificate of its own is checked as usual.
func pinnedClient(client *http.Client, serverURL string, pin []byte) *http.Client {
	address, err := url.Parse(serverURL)
	if err != nil || address.Scheme != "https" || pin == nil {
		return client
	}
	transport, ok := client.Transport.(*http.Transport)
	if !ok {
		transport = &http.Transport{Proxy: http.ProxyFromEnvironment}
	}
	transport = transport.Clone()
	settings := transport.TLSClientConfig
	if settings == nil {
		settings = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	settings = settings.Clone()
	trusted, server := settings.RootCAs, address.Hostname()
	settings.InsecureSkipVerify = true // VerifyConnection checks the name and the chain instead
	settings.VerifyConnection = func(state tls.ConnectionState) error {
		for _, certificate := range state.PeerCertificates[min(1, len(state.PeerCertificates)):] {
			if isPinned(certificate, pin) {
				roots := x509.NewCertPool()
				roots.AddCert(certificate)
				return verifyServer(state, server, roots)
			}
		}
		if err := verifyServer(state, server, trusted); err != nil {
			return fmt.Errorf("the server's certificate comes neither from the authority that the token names nor from one that this host trusts: %w", err)
		}
		return nil
	}
	transport.TLSClientConfig = settings
	return &http.Client{Transport: transport, Timeout: client.Timeout, CheckRedirect: client.CheckRedirect}
}
