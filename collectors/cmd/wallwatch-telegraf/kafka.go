package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// The environment variables of Kafka are those of every process of Wallwatch. Telegraf replaces variables in the configuration's text, so
// what is no plain text there is derived from them before it is loaded.
const (
	envBootstrap    = "WALLWATCH_KAFKA_BOOTSTRAP"
	envProtocol     = "WALLWATCH_KAFKA_SECURITY_PROTOCOL"
	envMechanism    = "WALLWATCH_KAFKA_SASL_MECHANISM"
	envUsername     = "WALLWATCH_KAFKA_SASL_USERNAME"
	envPassword     = "WALLWATCH_KAFKA_SASL_PASSWORD"
	envPasswordFile = "WALLWATCH_KAFKA_SASL_PASSWORD_FILE"

	derivedBrokers  = "WALLWATCH_KAFKA_BROKERS"
	derivedTLS      = "WALLWATCH_KAFKA_TLS"
	derivedPassword = "WALLWATCH_KAFKA_PASSWORD_TEXT"
)

var (
	protocols  = []string{"PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"}
	mechanisms = []string{"PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"}
)

// deriveKafka sets what the configuration needs as TOML: the list of brokers, whether TLS is on, and the password with its quotes escaped.
func deriveKafka() error {
	var brokers []string
	for broker := range strings.SplitSeq(os.Getenv(envBootstrap), ",") {
		if broker = strings.TrimSpace(broker); broker != "" {
			brokers = append(brokers, tomlText(broker))
		}
	}
	protocol := os.Getenv(envProtocol)
	if protocol == "" {
		protocol = "PLAINTEXT"
	}
	if !slices.Contains(protocols, protocol) {
		return fmt.Errorf("%s is %q: use %s", envProtocol, protocol, strings.Join(protocols, ", "))
	}
	password := os.Getenv(envPassword)
	if file := os.Getenv(envPasswordFile); file != "" {
		content, err := os.ReadFile(file) //nolint:gosec // the operator names the file
		if err != nil {
			return fmt.Errorf("%s: %w", envPasswordFile, err)
		}
		password = strings.TrimSpace(string(content))
	}
	if err := checkSasl(protocol, password); err != nil {
		return err
	}
	for name, value := range map[string]string{
		derivedBrokers:  strings.Join(brokers, ", "),
		derivedTLS:      fmt.Sprint(strings.HasSuffix(protocol, "SSL")),
		derivedPassword: escaped(password),
	} {
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	return nil
}

func checkSasl(protocol, password string) error {
	if !strings.HasPrefix(protocol, "SASL_") {
		if os.Getenv(envUsername) != "" {
			return fmt.Errorf("%s has no effect with %s=%s: set SASL_SSL", envUsername, envProtocol, protocol)
		}
		return nil
	}
	if mechanism := os.Getenv(envMechanism); !slices.Contains(mechanisms, mechanism) {
		return fmt.Errorf("%s is %q: the collector knows %s", envMechanism, mechanism, strings.Join(mechanisms, ", "))
	}
	if os.Getenv(envUsername) == "" || password == "" {
		return fmt.Errorf("%s needs %s and %s or %s", protocol, envUsername, envPassword, envPasswordFile)
	}
	return nil
}

func tomlText(text string) string { return `"` + escaped(text) + `"` }

// escaped is a text as it stands between the quotes of a basic string of TOML.
func escaped(text string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(text)
}
