package kafkaclient

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/IBM/sarama"
	"github.com/stretchr/testify/require"
	"go.step.sm/crypto/pemutil"
)

// environment sets the variables, and no other of Kafka.
func environment(t *testing.T, values map[string]string) {
	t.Helper()
	for _, name := range []string{
		Bootstrap, Protocol, Mechanism, Username, Password, PasswordFile, CAFile, CertificateFile, KeyFile, KeyPasswordFile, OAuthTokenURL,
		OAuthClientID, OAuthClientSecret, OAuthScope,
	} {
		t.Setenv(name, values[name])
	}
}

func file(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

func TestWithoutSettingsAClientSpeaksClearText(t *testing.T) {
	environment(t, map[string]string{Bootstrap: "k1:9092, k2:9092 ,"})
	settings, err := FromEnvironment()
	require.NoError(t, err)
	require.Equal(t, []string{"k1:9092", "k2:9092"}, settings.Brokers)
	config := sarama.NewConfig()
	require.NoError(t, settings.Apply(config))
	require.False(t, config.Net.TLS.Enable)
	require.False(t, config.Net.SASL.Enable)
}

func TestAClientHasTLSAndTheUserOfTheEnvironment(t *testing.T) {
	for _, mechanism := range []string{"PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"} {
		environment(t, map[string]string{Protocol: "SASL_SSL", Mechanism: mechanism, Username: "wallwatch-host", PasswordFile: file(t, "secret\n")})
		settings, err := FromEnvironment()
		require.NoError(t, err)
		config := sarama.NewConfig()
		require.NoError(t, settings.Apply(config))
		require.NoError(t, config.Validate())
		require.True(t, config.Net.TLS.Enable)
		require.Equal(t, "wallwatch-host/secret", config.Net.SASL.User+"/"+config.Net.SASL.Password)
	}
}

func TestWhatDoesNotFitTogetherIsNamed(t *testing.T) {
	secret, pemFile := file(t, "secret"), file(t, "-----BEGIN CERTIFICATE-----")
	scram := map[string]string{Protocol: "SASL_SSL", Mechanism: "SCRAM-SHA-512", Username: "u", Password: "p"}
	oauth := map[string]string{
		Protocol: "SASL_SSL", Mechanism: OAuthBearer, OAuthTokenURL: "https://login.example.net/token", OAuthClientID: "c", OAuthClientSecret: secret,
	}
	with := func(base map[string]string, name, value string) map[string]string {
		changed := maps.Clone(base)
		changed[name] = value
		return changed
	}
	for name, c := range map[string]struct {
		values map[string]string
		want   string
	}{
		"another protocol":                {map[string]string{Protocol: "TLS"}, "use PLAINTEXT, SSL"},
		"no mechanism":                    {with(scram, Mechanism, ""), Mechanism + ` is "": use PLAIN`},
		"no user":                         {with(scram, Username, ""), "needs " + Username},
		"no password":                     {with(scram, Password, ""), PasswordFile},
		"a password twice":                {with(scram, PasswordFile, secret), Password + " and " + PasswordFile + " are both set"},
		"a password file that is missing": {with(with(scram, Password, ""), PasswordFile, "/nowhere/p"), "/nowhere/p"},
		"an empty password file":          {with(with(scram, Password, ""), PasswordFile, file(t, "\n")), "is empty"},
		"a user without SASL":             {map[string]string{Username: "u"}, Username + " has no effect"},
		"an authority without TLS":        {map[string]string{CAFile: pemFile}, CAFile + " has no effect"},
		"a missing authority":             {map[string]string{Protocol: "SSL", CAFile: "/nowhere/ca"}, "/nowhere/ca"},
		"a certificate without a key":     {map[string]string{Protocol: "SSL", CertificateFile: pemFile}, "mutual TLS needs both"},
		"a key's password without a key":  {map[string]string{Protocol: "SSL", KeyPasswordFile: secret}, "no effect without " + KeyFile},
		"a token's address without OAUTH": {with(scram, OAuthTokenURL, "https://x/"), "only with " + Mechanism},
		"no client id":                    {with(oauth, OAuthClientID, ""), "needs " + OAuthClientID},
		"a token over plain HTTP":         {with(oauth, OAuthTokenURL, "http://login.example.net/token"), "must begin with https://"},
		"a name that begins as loopback":  {with(oauth, OAuthTokenURL, "http://127.0.0.1.example.net/token"), "must begin with https://"},
		"no address of a token":           {with(oauth, OAuthTokenURL, "login"), "no address of a token endpoint"},
	} {
		t.Run(name, func(t *testing.T) {
			environment(t, c.values)
			_, err := FromEnvironment()
			require.ErrorContains(t, err, c.want)
		})
	}
	for _, address := range []string{"https://login.example.net/token", "http://127.0.0.1:8080/token", "http://[::1]/token", "http://localhost/token"} {
		environment(t, with(oauth, OAuthTokenURL, address))
		_, err := FromEnvironment()
		require.NoError(t, err, address)
	}
}

// keyPairFiles are a certificate and its key of this kind, encrypted with a password.
func keyPairFiles(t *testing.T, key any, public any, password string) (certificateFile, keyFile string) {
	t.Helper()
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "host01"}, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, public, key)
	require.NoError(t, err)
	block, err := pemutil.Serialize(key, pemutil.WithPKCS8(true), pemutil.WithPassword([]byte(password)))
	require.NoError(t, err)
	require.Equal(t, encryptedType, block.Type)
	return file(t, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))), file(t, string(pem.EncodeToMemory(block)))
}

func TestAnEncryptedKeyIsReadWithItsPassword(t *testing.T) {
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	ecKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	for name, pair := range map[string][2]any{"RSA": {rsaKey, &rsaKey.PublicKey}, "elliptic curve": {ecKey, &ecKey.PublicKey}} {
		certificate, key := keyPairFiles(t, pair[0], pair[1], "open sesame")
		values := map[string]string{Protocol: "SSL", CertificateFile: certificate, KeyFile: key, KeyPasswordFile: file(t, "open sesame\n")}
		environment(t, values)
		settings, err := FromEnvironment()
		require.NoError(t, err)
		encryption, err := settings.TLSConfig()
		require.NoError(t, err, name)
		require.Len(t, encryption.Certificates, 1)

		for _, wrong := range []struct{ password, want string }{{file(t, "wrong"), KeyPasswordFile}, {"", "is encrypted: set " + KeyPasswordFile}} {
			values[KeyPasswordFile] = wrong.password
			environment(t, values)
			settings, err = FromEnvironment()
			require.NoError(t, err)
			_, err = settings.TLSConfig()
			require.ErrorContains(t, err, wrong.want, name)
		}
	}
}

func TestAPasswordThatDecryptsToNoKeyIsNamed(t *testing.T) {
	// As a wrong password does whose last bytes happen to look like padding.
	block, err := pemutil.EncryptPKCS8PrivateKey(rand.Reader, []byte("no key"), []byte("unlucky"), x509.PEMCipherAES256)
	require.NoError(t, err)
	settings := &Settings{KeyFile: file(t, string(pem.EncodeToMemory(block))), KeyPassword: "unlucky"}
	_, err = settings.plainKey()
	require.ErrorContains(t, err, KeyPasswordFile+" does not decrypt")
}

func TestATokenIsFetchedOnceAndAgainBeforeItEnds(t *testing.T) {
	fetched := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fetched++
		id, secret, _ := r.BasicAuth()
		if r.Method != http.MethodPost || id != "a%3Ab" || secret != "s%26t" || r.FormValue("grant_type") != "client_credentials" || r.FormValue("scope") != "kafka" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = w.Write([]byte(`{"access_token": "t` + strings.Repeat("i", fetched) + `", "expires_in": 100}`))
	}))
	t.Cleanup(server.Close)
	tokens := NewTokens(Credentials{TokenURL: server.URL, ClientID: "a:b", ClientSecret: "s&t", Scope: "kafka"})
	now := time.Now()
	tokens.now = func() time.Time { return now }
	for _, step := range []struct {
		after time.Duration
		want  string
	}{{0, "ti"}, {79 * time.Second, "ti"}, {2 * time.Second, "tii"}} {
		now = now.Add(step.after)
		token, err := tokens.Token()
		require.NoError(t, err)
		require.Equal(t, step.want, token.Token)
	}
}

func TestAServerThatGivesNoTokenIsNamedAndItsRedirectIsNotFollowed(t *testing.T) {
	for answer, want := range map[string]string{
		`{"error": "invalid_client"}`: `status 401, error "invalid_client"`, `{}`: "no access_token", `<html>`: "no JSON", "redirect": "status 307",
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch {
			case answer == "redirect" && r.URL.Path == "/":
				http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
				return
			case strings.Contains(answer, "error"):
				w.WriteHeader(http.StatusUnauthorized)
			}
			_, _ = w.Write([]byte(answer))
		}))
		_, err := NewTokens(Credentials{TokenURL: server.URL, ClientID: "c", ClientSecret: "the secret"}).Get()
		server.Close()
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, server.URL)
		require.NotContains(t, err.Error(), "the secret")
	}
}
