package identity

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wallwatch/wallwatch/collectors/agent/agenttest"
)

func enrolmentAt(server *httptest.Server, stateDir string) Enrolment {
	return Enrolment{Client: &http.Client{Timeout: time.Minute}, ServerURL: server.URL, Host: "host01", Version: "1", StateDir: stateDir}
}

func enrolWith(t *testing.T, server *httptest.Server, token, dir string) (Credentials, error) {
	t.Helper()
	return enrolmentAt(server, dir).Enrol(context.Background(), token)
}

func TestATokenMakesTheFirstContactSafe(t *testing.T) {
	authority, stranger := agenttest.NewAuthority(t, "ours"), agenttest.NewAuthority(t, "a stranger's")
	honest := authority.Server(authority.Enrolling("host01", time.Hour, authority.PEM()))
	dir := t.TempDir()
	credentials, err := enrolWith(t, honest, agenttest.Token+"."+authority.Pin(), dir)
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
		"a server of another authority": {stranger.Server(stranger.Enrolling("host01", time.Hour, stranger.PEM())),
			agenttest.Token + "." + authority.Pin(), "neither from the authority"},
		"a server that nobody has vouched for": {honest, agenttest.Token, "certificate"},
		"an answer of another authority": {authority.Server(stranger.Enrolling("host01", time.Hour, stranger.PEM())),
			agenttest.Token + "." + authority.Pin(), "not by the authority"},
		"a certificate of somebody else's host": {authority.Server(authority.Enrolling("host02", time.Hour, authority.PEM())),
			agenttest.Token + "." + authority.Pin(), "host02"},
		"a certificate of another authority": {authority.Server(stranger.Enrolling("host01", time.Hour, authority.PEM())),
			agenttest.Token + "." + authority.Pin(), "does not come from"},
		"a secret where there was to be a name": {authority.Server(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { accepted(w) })),
			agenttest.Token + "." + authority.Pin(), "not by the authority"},
		"a token that was not copied completely": {honest, agenttest.Token + "." + authority.Pin()[:20], "damaged"},
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

func TestAnExpiredCertificateAndANewTokenEnrolTheHostAgain(t *testing.T) {
	authority := agenttest.NewAuthority(t, "ours")
	ended := authority.Server(authority.Enrolling("host01", -time.Minute, authority.PEM()))
	enrolment := enrolmentAt(ended, t.TempDir())
	enrolment.TokenFile = filepath.Join(t.TempDir(), "token")
	log := slog.New(slog.DiscardHandler)
	first, err := enrolWith(t, ended, agenttest.Token+"."+authority.Pin(), enrolment.StateDir)
	if err != nil {
		t.Fatal(err)
	}
	same, err := enrolment.Ensure(context.Background(), log)
	if err != nil || same.Certificate != first.Certificate {
		t.Fatalf("without a token there is nothing to be done: %v", err)
	}
	own, err := NewCertificate(same)
	if err != nil || own.CheckExpiry(time.Now()) == nil || !strings.Contains(own.CheckExpiry(time.Now()).Error(), "wallwatch agent enrol") {
		t.Errorf("it does not say what to do: %v", own.CheckExpiry(time.Now()))
	}
	enrolment.ServerURL = authority.Server(authority.Enrolling("host01", time.Hour, authority.PEM())).URL
	if err := os.WriteFile(enrolment.TokenFile, []byte(agenttest.Token+"."+authority.Pin()), 0o600); err != nil {
		t.Fatal(err)
	}
	again, err := enrolment.Ensure(context.Background(), log)
	if err != nil || again.expired(time.Now()) || again.PrivateKey == first.PrivateKey {
		t.Errorf("%v", err)
	}
}

// enrolledStore is a host with a certificate, and what renews it.
func enrolledStore(t *testing.T, authority *agenttest.Authority) (*Renewal, *Certificate, *bool) {
	t.Helper()
	dir := t.TempDir()
	server := authority.Server(authority.Enrolling("host01", time.Hour, authority.PEM()))
	credentials, err := enrolWith(t, server, agenttest.Token+"."+authority.Pin(), dir)
	if err != nil {
		t.Fatal(err)
	}
	own, err := NewCertificate(credentials)
	if err != nil {
		t.Fatal(err)
	}
	moved := false
	return NewRenewal("host01", NewCredentialFile(dir), own, func() { moved = true }, slog.New(slog.DiscardHandler)), own, &moved
}

func answer(certificate string, authorities ...string) []byte {
	data, err := json.Marshal(map[string]any{"certificate": certificate, "authorities": authorities, "opamp_url": "wss://y:8443/v1/opamp"})
	if err != nil {
		panic(err)
	}
	return data
}

func TestARenewedCertificateIsKeptWithItsKeyAndShownFromThenOn(t *testing.T) {
	authority := agenttest.NewAuthority(t, "ours")
	store, own, moved := enrolledStore(t, authority)
	before, _ := own.current()
	store.Handle(messageRenew, nil)
	store.Handle(messageRenew, nil) // the first request is still on its way: its key must stay the one that is waited for
	request := string(<-store.requests)
	store.Handle(messageCertificate, answer(authority.Sign(request, "host01", time.Now().Add(-time.Minute), time.Now().Add(2*time.Hour)), authority.PEM()))
	after, _ := own.current()
	if after.Leaf.Equal(before.Leaf) || *moved {
		t.Errorf("the new certificate is not shown, or the connection was given up for it: %v", *moved)
	}
	saved, err := LoadCredentials(store.file.stateDir)
	if err != nil || saved.OpAMPURL != "wss://y:8443/v1/opamp" {
		t.Fatalf("%+v, %v", saved, err)
	}
	if kept, err := NewCertificate(saved); err != nil || !kept.presented.Leaf.Equal(after.Leaf) {
		t.Errorf("after a restart another one is shown: %v", err)
	}
}

func TestACertificateThatCannotBeUsedLeavesTheOneBefore(t *testing.T) {
	authority, stranger := agenttest.NewAuthority(t, "ours"), agenttest.NewAuthority(t, "a stranger's")
	store, own, _ := enrolledStore(t, authority)
	before, _ := own.current()
	good := func(request string) string {
		return authority.Sign(request, "host01", time.Now().Add(-time.Minute), time.Now().Add(time.Hour))
	}
	_, foreign, err := newKeyPair("host01")
	if err != nil {
		t.Fatal(err)
	}
	for name, make := range map[string]func(request string) []byte{
		"for another host": func(r string) []byte {
			return answer(authority.Sign(r, "host02", time.Now().Add(-time.Minute), time.Now().Add(time.Hour)), authority.PEM())
		},
		"for another key": func(string) []byte { return answer(good(foreign), authority.PEM()) },
		"by another authority": func(r string) []byte {
			return answer(stranger.Sign(r, "host01", time.Now().Add(-time.Minute), time.Now().Add(time.Hour)), authority.PEM())
		},
		"without authorities":      func(r string) []byte { return answer(good(r)) },
		"that is not JSON":         func(string) []byte { return []byte("{") },
		"with no certificate":      func(string) []byte { return answer("", authority.PEM()) },
		"with damaged authorities": func(r string) []byte { return answer(good(r), "x") },
	} {
		store.Handle(messageRenew, nil)
		store.Handle(messageCertificate, make(string(<-store.requests)))
		if now, _ := own.current(); !now.Leaf.Equal(before.Leaf) {
			t.Errorf("a certificate %s was taken", name)
		}
		if saved, err := LoadCredentials(store.file.stateDir); err != nil || saved.expired(time.Now()) {
			t.Errorf("%s: the credentials on the disk are damaged: %v", name, err)
		}
	}
	store.pending = ""
	store.Handle(messageCertificate, answer(good(foreign), authority.PEM()))
	if now, _ := own.current(); !now.Leaf.Equal(before.Leaf) {
		t.Error("a certificate that nobody requested was accepted")
	}
}

func TestAnAgentWithASecretKeepsItUntilItHasACertificate(t *testing.T) {
	authority := agenttest.NewAuthority(t, "ours")
	dir := t.TempDir()
	former := Credentials{Host: "host01", InstanceUID: "7d1e0c44-8a55-4c39-8b1f-5e3f6a2b7c22", AgentID: "a", Secret: "s", OpAMPURL: "ws://x/v1/opamp",
		CommandKeys: []CommandKey{publicKey()}}
	if err := former.Save(dir); err != nil {
		t.Fatal(err)
	}
	moved := false
	store := NewRenewal("host01", NewCredentialFile(dir), nil, func() { moved = true }, slog.New(slog.DiscardHandler))
	store.Handle(messageRefused, []byte(`{"reason": "no"}`))
	if saved, err := LoadCredentials(dir); err != nil || saved.Secret != "s" || moved {
		t.Fatalf("%+v, %v", saved, err)
	}
	store.Handle(messageRenew, nil)
	certificate := authority.Sign(string(<-store.requests), "host01", time.Now().Add(-time.Minute), time.Now().Add(time.Hour))
	store.Handle(messageCertificate, answer(certificate, authority.PEM()))
	saved, err := LoadCredentials(dir)
	if err != nil || saved.Secret != "" || saved.Certificate == "" || !moved {
		t.Errorf("%+v, %v, %v", saved, err, moved)
	}
	if used := saved.Address("ws://old/v1/opamp", slog.New(slog.DiscardHandler)); used != saved.OpAMPURL {
		t.Errorf("it connects to %s, which takes secrets only", used)
	}
}

func TestTheServerIsBelievedForItsNameAndItsAuthorityOnly(t *testing.T) {
	authority, stranger := agenttest.NewAuthority(t, "ours"), agenttest.NewAuthority(t, "a stranger's")
	_, own, _ := enrolledStore(t, authority)
	nothing := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	get := func(server *httptest.Server, name string) error {
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: own.TLS(name)}}
		defer client.CloseIdleConnections()
		response, err := client.Get(server.URL)
		if err == nil {
			_ = response.Body.Close()
		}
		return err
	}
	honest := authority.Server(nothing)
	if err := get(honest, "127.0.0.1"); err != nil {
		t.Error(err)
	}
	if err := get(honest, "wallwatch.example.net"); err == nil {
		t.Error("a certificate for another name was believed")
	}
	if err := get(stranger.Server(nothing), "127.0.0.1"); err == nil {
		t.Error("a stranger's certificate was believed")
	}
}
