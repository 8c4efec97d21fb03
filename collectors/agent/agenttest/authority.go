package agenttest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"
)

// Authority signs certificates like the server's.
type Authority struct {
	// TelemetryKey is in answers to enrolments; "" where the server checks none.
	TelemetryKey string

	t    testing.TB
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// NewAuthority creates an authority that is valid now.
func NewAuthority(t testing.TB, name string) *Authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-24 * time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &Authority{t: t, cert: cert, key: key}
}

// PEM is its own certificate.
func (a *Authority) PEM() string { return encodePEM(a.cert.Raw) }

// Pin is its fingerprint as a token has it.
func (a *Authority) Pin() string {
	sum := sha256.Sum256(a.cert.Raw)
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

func encodePEM(der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

// Sign answers a request for a host's certificate.
func (a *Authority) Sign(request, host string, from, until time.Time) string {
	a.t.Helper()
	block, _ := pem.Decode([]byte(request))
	if block == nil {
		a.t.Fatalf("not a request in PEM: %q", request)
	}
	wanted, err := x509.ParseCertificateRequest(block.Bytes)
	if err != nil || wanted.CheckSignature() != nil {
		a.t.Fatalf("the request is not good: %v", err)
	}
	name := &url.URL{Scheme: "wallwatch", Host: "host", Path: "/" + host}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), NotBefore: from, NotAfter: until, URIs: []*url.URL{name},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, wanted.PublicKey, a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	return encodePEM(der)
}

// Server starts an HTTPS server whose certificate, for 127.0.0.1, this authority signed.
func (a *Authority) Server(handler http.Handler) *httptest.Server {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(handler)
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der, a.cert.Raw}, PrivateKey: key}}, MinVersion: tls.VersionTLS13}
	server.StartTLS()
	a.t.Cleanup(server.Close)
	return server
}

// Enrolling answers enrolments with a certificate for a host, and with authorities.
func (a *Authority) Enrolling(host string, life time.Duration, authorities ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, request *http.Request) {
		var body map[string]string
		if err := json.NewDecoder(request.Body).Decode(&body); err != nil {
			a.t.Errorf("the enrolment is not JSON: %v", err)
		}
		from := time.Now().Add(-time.Hour)
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(map[string]any{
			"agent_id": "a", "secret": nil, "opamp_url": "wss://x:8443/v1/opamp",
			"command_keys": []map[string]string{{"kid": "k1", "alg": "EdDSA", "public_key": PublicKey(ServerKey)}},
			"certificate":  a.Sign(body["csr"], host, from, from.Add(time.Hour+life)), "authorities": authorities,
			"telemetry_key": a.TelemetryKey,
		})
	}
}

// Pool trusts this authority.
func (a *Authority) Pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	return pool
}

// ClientCertificate creates a key and a certificate of a host's agent, both PEM.
func (a *Authority) ClientCertificate(host string) (certificate, key string) {
	a.t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	request, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{}, private)
	if err != nil {
		a.t.Fatal(err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		a.t.Fatal(err)
	}
	signed := a.Sign(string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: request})), host, time.Now().Add(-time.Hour),
		time.Now().Add(time.Hour))
	return signed, string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded}))
}
