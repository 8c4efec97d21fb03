package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/IBM/sarama"
	"github.com/influxdata/telegraf"
	"github.com/stretchr/testify/require"
	"go.step.sm/crypto/pemutil"

	"github.com/wallwatch/wallwatch/collectors/internal/kafkaclient"
)

func environment(t *testing.T, values map[string]string) {
	t.Helper()
	for _, name := range []string{
		kafkaclient.Bootstrap, kafkaclient.Protocol, kafkaclient.Mechanism, kafkaclient.Username, kafkaclient.Password, kafkaclient.PasswordFile,
		kafkaclient.CAFile, kafkaclient.CertificateFile, kafkaclient.KeyFile, kafkaclient.KeyPasswordFile, kafkaclient.OAuthTokenURL,
		kafkaclient.OAuthClientID, kafkaclient.OAuthClientSecret, kafkaclient.OAuthScope, derivedBrokers, derivedTLS, derivedPassword, telemetryForm,
	} {
		t.Setenv(name, values[name])
	}
}

func derive(t *testing.T) {
	t.Helper()
	_, err := deriveKafka()
	require.NoError(t, err)
}

func TestSeveralBrokersBecomeAList(t *testing.T) {
	environment(t, map[string]string{kafkaclient.Bootstrap: "k1:9093, k2:9093 ,"})
	derive(t)
	require.Equal(t, `"k1:9093", "k2:9093"`, os.Getenv(derivedBrokers))
	require.Equal(t, "false", os.Getenv(derivedTLS))
}

func TestAPasswordComesFromItsFileAndItsQuotesDoNotEndTheText(t *testing.T) {
	file := filepath.Join(t.TempDir(), "password")
	require.NoError(t, os.WriteFile(file, []byte("a\"b\\c\n"), 0o600))
	environment(t, map[string]string{
		kafkaclient.Bootstrap: "k1:9093", kafkaclient.Protocol: "SASL_SSL", kafkaclient.Mechanism: "SCRAM-SHA-512", kafkaclient.Username: "wallwatch-host", kafkaclient.PasswordFile: file,
	})
	derive(t)
	require.Equal(t, `a\"b\\c`, os.Getenv(derivedPassword))
	require.Equal(t, "true", os.Getenv(derivedTLS))
}

func TestTheShippedConfigurationConnectsToEachBrokerWithTLSAndAUser(t *testing.T) {
	ca, err := filepath.Abs("testdata/ca.pem")
	require.NoError(t, err)
	environment(t, map[string]string{
		kafkaclient.Bootstrap: "k1:9093,k2:9093", kafkaclient.Protocol: "SASL_SSL", kafkaclient.Mechanism: "SCRAM-SHA-512", kafkaclient.Username: "wallwatch-host", kafkaclient.Password: `p"w`,
	})
	t.Setenv(kafkaclient.CAFile, ca)
	require.NoError(t, loadShipped(t).Init())
}

// loadShipped loads the configuration of the image of hosts and returns its output for Kafka.
func loadShipped(t *testing.T) *kafkaOutput {
	t.Helper()
	return shippedOutput[*kafkaOutput](t)
}

// shippedOutput is the output of this type in the configuration that ships, which has one.
func shippedOutput[T telegraf.Output](t *testing.T) T {
	t.Helper()
	loaded, err := load(shippedFile(t))
	require.NoError(t, err)
	var found []T
	for _, output := range loaded.Outputs {
		if wanted, ok := output.Output.(T); ok {
			found = append(found, wanted)
		}
	}
	require.Len(t, found, 1)
	return found[0]
}

func shippedFile(t *testing.T) string {
	t.Helper()
	t.Setenv("WALLWATCH_HOST", "h1")
	shipped, err := os.ReadFile("../../../docker/host/telegraf.conf")
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "telegraf.conf")
	text := strings.ReplaceAll(string(shipped), "/var/lib/wallwatch-telegraf", t.TempDir())
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	return file
}

func write(t *testing.T, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(path, content, 0o600))
	return path
}

// clientFiles are a certificate, and its key encrypted with a password.
func clientFiles(t *testing.T, key, public any, password string) (certificate, encrypted string) {
	t.Helper()
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, public, key)
	require.NoError(t, err)
	block, err := pemutil.Serialize(key, pemutil.WithPKCS8(true), pemutil.WithPassword([]byte(password)))
	require.NoError(t, err)
	return write(t, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})), write(t, pem.EncodeToMemory(block))
}

func TestTheShippedConfigurationUsesAnEncryptedKey(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	certificate, encrypted := clientFiles(t, key, &key.PublicKey, "open sesame")
	values := map[string]string{
		kafkaclient.Bootstrap: "k1:9093", kafkaclient.Protocol: "SSL", kafkaclient.CertificateFile: certificate, kafkaclient.KeyFile: encrypted,
		kafkaclient.KeyPasswordFile: write(t, []byte("open sesame\n")),
	}
	environment(t, values)
	require.NoError(t, loadShipped(t).Init())

	values[kafkaclient.KeyPasswordFile] = write(t, []byte("open barley"))
	environment(t, values)
	_, err = load(shippedFile(t))
	require.ErrorContains(t, err, kafkaclient.KeyPasswordFile)
}

func TestAnEncryptedKeyThatTelegrafCannotReadIsRefusedWithTheReason(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	certificate, encrypted := clientFiles(t, key, &key.PublicKey, "open sesame")
	environment(t, map[string]string{
		kafkaclient.Bootstrap: "k1:9093", kafkaclient.Protocol: "SSL", kafkaclient.CertificateFile: certificate, kafkaclient.KeyFile: encrypted,
		kafkaclient.KeyPasswordFile: write(t, []byte("open sesame")),
	})
	_, err = load(shippedFile(t))
	require.ErrorContains(t, err, "only if they are RSA keys")
}

func TestTheShippedConfigurationGetsATokenWhenItSignsInAndNotBefore(t *testing.T) {
	var fetched atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, `{"access_token": "token %d", "expires_in": 1}`, fetched.Add(1))
	}))
	t.Cleanup(server.Close)
	environment(t, map[string]string{
		kafkaclient.Bootstrap: "k1:9093", kafkaclient.Protocol: "SASL_SSL", kafkaclient.Mechanism: kafkaclient.OAuthBearer,
		kafkaclient.OAuthTokenURL: server.URL, kafkaclient.OAuthClientID: "host", kafkaclient.OAuthClientSecret: write(t, []byte("secret")),
	})
	output := loadShipped(t)
	require.NoError(t, output.Init())
	require.Zero(t, fetched.Load(), "a configuration is loaded without the token server")
	client := sarama.NewConfig()
	require.NoError(t, output.SetSASLConfig(client))
	require.EqualValues(t, sarama.SASLTypeOAuth, client.Net.SASL.Mechanism)
	require.NoError(t, client.Validate())
	token, err := client.Net.SASL.TokenProvider.Token()
	require.NoError(t, err)
	require.Equal(t, "token 1", token.Token)
	require.Eventually(t, func() bool { // a later sign-in, when the first token has ended
		token, err = client.Net.SASL.TokenProvider.Token()
		return err == nil && token.Token != "token 1"
	}, time.Minute, 50*time.Millisecond)
}
