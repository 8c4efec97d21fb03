package identity

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"net/url"
)

// newKeyPair creates a private key, which never leaves this host, and the signing request for its certificate. Both are PEM.
func newKeyPair(host string) (privateKey, request string, err error) {
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
	privateKey = string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded}))
	return privateKey, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der})), nil
}
