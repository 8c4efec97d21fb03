package agent

import (
	"context"
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
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// testAuthority signs like the server's.
type testAuthority struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newTestAuthority(t *testing.T, name string) *testAuthority {
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
	return &testAuthority{t: t, cert: cert, key: key}
}

func (a *testAuthority) pem() string { return encodePEM(a.cert.Raw) }

func (a *testAuthority) pin() string {
	sum := sha256.Sum256(a.cert.Raw)
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

func encodePEM(der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

// sign answers a request for a host's certificate.
func (a *testAuthority) sign(request, host string, from, until time.Time) string {
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

// server starts an HTTPS server whose certificate, for 127.0.0.1, this authority signed.
func (a *testAuthority) server(handler http.Handler) *httptest.Server {
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

// enrolling answers enrolments with a certificate for a host, and with authorities.
func (a *testAuthority) enrolling(host string, life time.Duration, authorities ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, request *http.Request) {
		var body map[string]string
		if err := json.NewDecoder(request.Body).Decode(&body); err != nil {
			a.t.Errorf("the enrolment is no JSON: %v", err)
		}
		from := time.Now().Add(-time.Hour)
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(map[string]any{
			"agent_id": "a", "secret": nil, "opamp_url": "wss://x:8443/v1/opamp", "command_keys": []CommandKey{publicKey()},
			"certificate": a.sign(body["csr"], host, from, from.Add(time.Hour+life)), "authorities": authorities,
		})
	}
}

func enrolWith(t *testing.T, server *httptest.Server, token, dir string) (Credentials, error) {
	t.Helper()
	return Enrol(context.Background(), &http.Client{Timeout: 10 * time.Second}, server.URL, "host01", token, "1", dir)
}

func TestATokenMakesTheFirstContactSafe(t *testing.T) {
	authority, stranger := newTestAuthority(t, "ours"), newTestAuthority(t, "a stranger's")
	honest := authority.server(authority.enrolling("host01", time.Hour, authority.pem()))
	dir := t.TempDir()
	credentials, err := enrolWith(t, honest, testToken+"."+authority.pin(), dir)
	if err != nil || credentials.Secret != "" || !strings.Contains(credentials.PrivateKey, "PRIVATE KEY") {
		t.Fatalf("%+v, %v", credentials, err)
	}
	if info, err := os.Stat(filepath.Join(dir, credentialsFile)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the private key can be read by others: %v, %v", info, err)
	}
	for name, c := range map[string]struct {
		server *httptest.Server
		token  string
		says   string
	}{
		"a server of another authority":          {stranger.server(stranger.enrolling("host01", time.Hour, stranger.pem())), testToken + "." + authority.pin(), "neither from the authority"},
		"a server that nobody has vouched for":   {honest, testToken, "certificate"},
		"an answer of another authority":         {authority.server(stranger.enrolling("host01", time.Hour, stranger.pem())), testToken + "." + authority.pin(), "not by the authority"},
		"a certificate of somebody else's host":  {authority.server(authority.enrolling("host02", time.Hour, authority.pem())), testToken + "." + authority.pin(), "host02"},
		"a certificate of another authority":     {authority.server(stranger.enrolling("host01", time.Hour, authority.pem())), testToken + "." + authority.pin(), "does not come from"},
		"a secret where there was to be a name":  {authority.server(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { accepted(w) })), testToken + "." + authority.pin(), "not by the authority"},
		"a token that was not copied completely": {honest, testToken + "." + authority.pin()[:20], "damaged"},
	} {
		dir := t.TempDir()
		if _, err := enrolWith(t, c.server, c.token, dir); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := LoadCredentials(dir); err == nil {
			t.Errorf("%s: credentials were kept", name)
		}
	}
}

func TestAnEndedCertificateAndANewTokenEnrolAnew(t *testing.T) {
	authority := newTestAuthority(t, "ours")
	ended := authority.server(authority.enrolling("host01", -time.Minute, authority.pem()))
	config := DefaultConfig()
	config.Host, config.ServerURL, config.StateDir = "host01", ended.URL, t.TempDir()
	config.EnrolmentTokenFile = filepath.Join(t.TempDir(), "token")
	log := slog.New(slog.DiscardHandler)
	first, err := enrolWith(t, ended, testToken+"."+authority.pin(), config.StateDir)
	if err != nil {
		t.Fatal(err)
	}
	same, err := ensureEnrolled(context.Background(), config, &http.Client{}, "1", log)
	if err != nil || same.Certificate != first.Certificate {
		t.Fatalf("without a token there is nothing to be done: %v", err)
	}
	own, err := newIdentity(same)
	if err != nil || own.checkEnd(time.Now()) == nil || !strings.Contains(own.checkEnd(time.Now()).Error(), "wallwatch agent enrol") {
		t.Errorf("it does not say what to do: %v", own.checkEnd(time.Now()))
	}
	config.ServerURL = authority.server(authority.enrolling("host01", time.Hour, authority.pem())).URL
	if err := os.WriteFile(config.EnrolmentTokenFile, []byte(testToken+"."+authority.pin()), 0o600); err != nil {
		t.Fatal(err)
	}
	again, err := ensureEnrolled(context.Background(), config, &http.Client{}, "1", log)
	if err != nil || again.ended(time.Now()) || again.PrivateKey == first.PrivateKey {
		t.Errorf("%v", err)
	}
}

// enrolledStore is a host with a certificate, and what renews it.
func enrolledStore(t *testing.T, authority *testAuthority) (*certificateStore, *identity, *bool) {
	t.Helper()
	dir := t.TempDir()
	server := authority.server(authority.enrolling("host01", time.Hour, authority.pem()))
	credentials, err := enrolWith(t, server, testToken+"."+authority.pin(), dir)
	if err != nil {
		t.Fatal(err)
	}
	own, err := newIdentity(credentials)
	if err != nil {
		t.Fatal(err)
	}
	moved := false
	return newCertificateStore("host01", &credentialFile{stateDir: dir}, own, func() { moved = true }, slog.New(slog.DiscardHandler)), own, &moved
}

func answer(certificate string, authorities ...string) []byte {
	data, err := json.Marshal(map[string]any{"certificate": certificate, "authorities": authorities, "opamp_url": "wss://y:8443/v1/opamp"})
	if err != nil {
		panic(err)
	}
	return data
}

func TestARenewedCertificateIsKeptWithItsKeyAndShownFromThenOn(t *testing.T) {
	authority := newTestAuthority(t, "ours")
	store, own, moved := enrolledStore(t, authority)
	before, _ := own.current()
	store.take(messageRenew, nil)
	store.take(messageRenew, nil) // the first request is still on its way: its key must stay the one that is waited for
	request := string(<-store.requests)
	store.take(messageCertificate, answer(authority.sign(request, "host01", time.Now().Add(-time.Minute), time.Now().Add(2*time.Hour)), authority.pem()))
	after, _ := own.current()
	if after.Leaf.Equal(before.Leaf) || *moved {
		t.Errorf("the new certificate is not shown, or the connection was given up for it: %v", *moved)
	}
	saved, err := LoadCredentials(store.file.stateDir)
	if err != nil || saved.OpAMPURL != "wss://y:8443/v1/opamp" {
		t.Fatalf("%+v, %v", saved, err)
	}
	if kept, err := newIdentity(saved); err != nil || !kept.shown.Leaf.Equal(after.Leaf) {
		t.Errorf("after a restart another one is shown: %v", err)
	}
}

func TestACertificateThatCannotBeUsedLeavesTheOneBefore(t *testing.T) {
	authority, stranger := newTestAuthority(t, "ours"), newTestAuthority(t, "a stranger's")
	store, own, _ := enrolledStore(t, authority)
	before, _ := own.current()
	good := func(request string) string {
		return authority.sign(request, "host01", time.Now().Add(-time.Minute), time.Now().Add(time.Hour))
	}
	_, foreign, err := newKey("host01")
	if err != nil {
		t.Fatal(err)
	}
	for name, make := range map[string]func(request string) []byte{
		"for another host": func(r string) []byte {
			return answer(authority.sign(r, "host02", time.Now().Add(-time.Minute), time.Now().Add(time.Hour)), authority.pem())
		},
		"for another key": func(string) []byte { return answer(good(foreign), authority.pem()) },
		"by another authority": func(r string) []byte {
			return answer(stranger.sign(r, "host01", time.Now().Add(-time.Minute), time.Now().Add(time.Hour)), authority.pem())
		},
		"without authorities":      func(r string) []byte { return answer(good(r)) },
		"that is no JSON":          func(string) []byte { return []byte("{") },
		"with no certificate":      func(string) []byte { return answer("", authority.pem()) },
		"with damaged authorities": func(r string) []byte { return answer(good(r), "x") },
	} {
		store.take(messageRenew, nil)
		store.take(messageCertificate, make(string(<-store.requests)))
		if now, _ := own.current(); !now.Leaf.Equal(before.Leaf) {
			t.Errorf("a certificate %s was taken", name)
		}
		if saved, err := LoadCredentials(store.file.stateDir); err != nil || saved.ended(time.Now()) {
			t.Errorf("%s: the credentials on the disk are damaged: %v", name, err)
		}
	}
	store.pending = ""
	store.take(messageCertificate, answer(good(foreign), authority.pem()))
	if now, _ := own.current(); !now.Leaf.Equal(before.Leaf) {
		t.Error("a certificate that nobody asked for was taken")
	}
}

func TestAnAgentWithASecretKeepsItUntilItHasACertificate(t *testing.T) {
	authority := newTestAuthority(t, "ours")
	dir := t.TempDir()
	former := Credentials{Host: "host01", InstanceUID: "7d1e0c44-8a55-4c39-8b1f-5e3f6a2b7c22", AgentID: "a", Secret: "s", OpAMPURL: "ws://x/v1/opamp",
		CommandKeys: []CommandKey{publicKey()}}
	if err := former.Save(dir); err != nil {
		t.Fatal(err)
	}
	moved := false
	store := newCertificateStore("host01", &credentialFile{stateDir: dir}, nil, func() { moved = true }, slog.New(slog.DiscardHandler))
	store.take(messageRefused, []byte(`{"reason": "no"}`))
	if saved, err := LoadCredentials(dir); err != nil || saved.Secret != "s" || moved {
		t.Fatalf("%+v, %v", saved, err)
	}
	store.take(messageRenew, nil)
	certificate := authority.sign(string(<-store.requests), "host01", time.Now().Add(-time.Minute), time.Now().Add(time.Hour))
	store.take(messageCertificate, answer(certificate, authority.pem()))
	saved, err := LoadCredentials(dir)
	if err != nil || saved.Secret != "" || saved.Certificate == "" || !moved {
		t.Errorf("%+v, %v, %v", saved, err, moved)
	}
	if used := saved.address("ws://old/v1/opamp", slog.New(slog.DiscardHandler)); used != saved.OpAMPURL {
		t.Errorf("it connects to %s, which takes secrets only", used)
	}
}

func TestTheServerIsBelievedForItsNameAndItsAuthorityOnly(t *testing.T) {
	authority, stranger := newTestAuthority(t, "ours"), newTestAuthority(t, "a stranger's")
	_, own, _ := enrolledStore(t, authority)
	nothing := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	get := func(server *httptest.Server, name string) error {
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: own.tls(name)}}
		defer client.CloseIdleConnections()
		response, err := client.Get(server.URL)
		if err == nil {
			_ = response.Body.Close()
		}
		return err
	}
	honest := authority.server(nothing)
	if err := get(honest, "127.0.0.1"); err != nil {
		t.Error(err)
	}
	if err := get(honest, "wallwatch.example.net"); err == nil {
		t.Error("a certificate for another name was believed")
	}
	if err := get(stranger.server(nothing), "127.0.0.1"); err == nil {
		t.Error("a stranger's certificate was believed")
	}
}
