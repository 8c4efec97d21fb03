package agent

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"net/url"
)

// pinnedClient returns a client that also believes a server whose certificate comes from the authority that a token names, so that the first
// contact needs no other authority. A server behind a proxy with a certificate of its own is checked as ever.
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
