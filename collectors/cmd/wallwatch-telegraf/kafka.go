package main

import (
	"crypto/rsa"
	"fmt"
	"os"
	"strings"

	"github.com/influxdata/telegraf"
	"github.com/influxdata/telegraf/config"
	"github.com/influxdata/telegraf/plugins/outputs"
	"github.com/influxdata/telegraf/plugins/outputs/kafka"

	"github.com/wallwatch/wallwatch/collectors/internal/kafkaclient"
)

// The environment variables of Kafka are those of every process of Wallwatch. Telegraf replaces variables in the configuration's text, so
// what is no plain text there is derived from them before it is loaded.
const (
	derivedBrokers  = "WALLWATCH_KAFKA_BROKERS"
	derivedTLS      = "WALLWATCH_KAFKA_TLS"
	derivedPassword = "WALLWATCH_KAFKA_PASSWORD_TEXT"
)

// deriveKafka sets what the configuration needs as TOML: the list of brokers, whether TLS is on, and the password with its quotes escaped. It
// returns the settings.
func deriveKafka() (kafkaclient.Settings, error) {
	settings, err := kafkaclient.FromEnvironment()
	if err != nil {
		return settings, err
	}
	brokers := make([]string, len(settings.Brokers))
	for i, broker := range settings.Brokers {
		brokers[i] = tomlText(broker)
	}
	for name, value := range map[string]string{
		derivedBrokers:  strings.Join(brokers, ", "),
		derivedTLS:      fmt.Sprint(settings.TLS()),
		derivedPassword: escaped(settings.Password),
	} {
		if err := os.Setenv(name, value); err != nil {
			return settings, err
		}
	}
	return settings, nil
}

// newKafka creates an output for Kafka with Telegraf's defaults.
var newKafka = outputs.Outputs["kafka"]

// presetKafka gives outputs for Kafka what a configuration cannot say in Telegraf's own words: the password of the key, from its file, tokens that are
// fetched when they are needed, and the form of samples. What a configuration sets itself counts.
func presetKafka(settings *kafkaclient.Settings) error {
	if err := checkEncryptedKey(settings); err != nil {
		return err
	}
	form, err := chosenForm()
	if err != nil {
		return err
	}
	var token config.Secret
	if settings.Mechanism == kafkaclient.OAuthBearer {
		if token, err = fetchedToken(settings.OAuth); err != nil {
			return err
		}
	}
	// Telegraf checks the key while it parses the configuration, so that this cannot be set later.
	outputs.Add("kafka", func() telegraf.Output {
		output := newKafka()
		target, ok := output.(*kafka.Kafka)
		if !ok {
			return output
		}
		target.TLSKeyPwd, target.SASLAccessToken = settings.KeyPassword, token
		return newKafkaOutput(target, form)
	})
	return nil
}

// checkEncryptedKey finds before the start what is wrong with a key that has a password.
func checkEncryptedKey(settings *kafkaclient.Settings) error {
	if settings.KeyPassword == "" {
		return nil
	}
	encryption, err := settings.TLSConfig()
	if err != nil {
		return err
	}
	if _, isRSA := encryption.Certificates[0].PrivateKey.(*rsa.PrivateKey); !isRSA {
		return fmt.Errorf("%s: Telegraf reads encrypted keys only if they are RSA keys: use one, or a key without a password that only this user can read",
			kafkaclient.KeyPasswordFile)
	}
	return nil
}

// fetchedToken is a token that is asked for at each sign-in. Telegraf knows secrets that change only as parts of a secret store.
func fetchedToken(credentials kafkaclient.Credentials) (config.Secret, error) {
	const reference = "@{wallwatch:token}"
	tokens, linking := kafkaclient.NewTokens(credentials), true
	resolve := func() ([]byte, bool, error) {
		if linking { // nothing is fetched while a configuration is loaded
			return nil, true, nil
		}
		token, err := tokens.Get()
		return []byte(token), true, err
	}
	secret := config.NewSecret([]byte(reference))
	err := secret.Link(map[string]telegraf.ResolveFunc{reference: resolve})
	linking = false
	return secret, err
}

func tomlText(text string) string { return `"` + escaped(text) + `"` }

// escaped is a text as it stands between the quotes of a basic string of TOML.
func escaped(text string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(text)
}
