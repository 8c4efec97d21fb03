package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func environment(t *testing.T, values map[string]string) {
	t.Helper()
	for _, name := range []string{
		envBootstrap, envProtocol, envMechanism, envUsername, envPassword, envPasswordFile, derivedBrokers, derivedTLS, derivedPassword,
	} {
		t.Setenv(name, values[name])
	}
}

func TestSeveralBrokersBecomeAList(t *testing.T) {
	environment(t, map[string]string{envBootstrap: "k1:9093, k2:9093 ,"})
	require.NoError(t, deriveKafka())
	require.Equal(t, `"k1:9093", "k2:9093"`, os.Getenv(derivedBrokers))
	require.Equal(t, "false", os.Getenv(derivedTLS))
}

func TestAPasswordComesFromItsFileAndItsQuotesDoNotEndTheText(t *testing.T) {
	file := filepath.Join(t.TempDir(), "password")
	require.NoError(t, os.WriteFile(file, []byte("a\"b\\c\n"), 0o600))
	environment(t, map[string]string{
		envBootstrap: "k1:9093", envProtocol: "SASL_SSL", envMechanism: "SCRAM-SHA-512", envUsername: "wallwatch-host", envPasswordFile: file,
	})
	require.NoError(t, deriveKafka())
	require.Equal(t, `a\"b\\c`, os.Getenv(derivedPassword))
	require.Equal(t, "true", os.Getenv(derivedTLS))
}

func TestWhatDoesNotFitIsNamed(t *testing.T) {
	for name, test := range map[string]struct {
		values map[string]string
		want   string
	}{
		"protocol":     {map[string]string{envProtocol: "TLS"}, "use PLAINTEXT, SSL"},
		"no mechanism": {map[string]string{envProtocol: "SASL_SSL", envUsername: "u", envPassword: "p"}, envMechanism},
		"no user":      {map[string]string{envProtocol: "SASL_SSL", envMechanism: "PLAIN", envPassword: "p"}, "needs " + envUsername},
		"no password":  {map[string]string{envProtocol: "SASL_SSL", envMechanism: "PLAIN", envUsername: "u"}, envPasswordFile},
		"no file":      {map[string]string{envPasswordFile: "/nowhere/password"}, "/nowhere/password"},
		"no effect":    {map[string]string{envUsername: "u"}, "has no effect"},
	} {
		t.Run(name, func(t *testing.T) {
			environment(t, test.values)
			require.ErrorContains(t, deriveKafka(), test.want)
		})
	}
}

func TestTheShippedConfigurationConnectsToEachBrokerWithTLSAndAUser(t *testing.T) {
	ca, err := filepath.Abs("testdata/ca.pem")
	require.NoError(t, err)
	environment(t, map[string]string{
		envBootstrap: "k1:9093,k2:9093", envProtocol: "SASL_SSL", envMechanism: "SCRAM-SHA-512", envUsername: "wallwatch-host", envPassword: `p"w`,
	})
	t.Setenv("WALLWATCH_KAFKA_CA_FILE", ca)
	t.Setenv("WALLWATCH_HOST", "h1")
	shipped, err := os.ReadFile("../../../docker/host/telegraf.conf")
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "telegraf.conf")
	text := strings.ReplaceAll(string(shipped), "/var/lib/wallwatch-telegraf", t.TempDir())
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	loaded, err := load(file)
	require.NoError(t, err)
	require.Len(t, loaded.Outputs, 1)
}
