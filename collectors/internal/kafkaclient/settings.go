// Package kafkaclient reads from the environment how a program reaches Kafka, and as whom: the same variables as for every process of Wallwatch
// (docs/operating.md). What does not fit together is an error that names the variable.
package kafkaclient

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
)

// Environment variables, without their prefix.
const (
	prefix = "WALLWATCH_KAFKA_"

	Bootstrap         = prefix + "BOOTSTRAP"
	Protocol          = prefix + "SECURITY_PROTOCOL"
	Mechanism         = prefix + "SASL_MECHANISM"
	Username          = prefix + "SASL_USERNAME"
	Password          = prefix + "SASL_PASSWORD"
	PasswordFile      = prefix + "SASL_PASSWORD_FILE"
	CAFile            = prefix + "CA_FILE"
	CertificateFile   = prefix + "CERTIFICATE_FILE"
	KeyFile           = prefix + "KEY_FILE"
	KeyPasswordFile   = prefix + "KEY_PASSWORD_FILE"
	OAuthTokenURL     = prefix + "OAUTH_TOKEN_URL"
	OAuthClientID     = prefix + "OAUTH_CLIENT_ID"
	OAuthClientSecret = prefix + "OAUTH_CLIENT_SECRET_FILE"
	OAuthScope        = prefix + "OAUTH_SCOPE"
)

// OAuthBearer is the mechanism that signs in with a token.
const OAuthBearer = "OAUTHBEARER"

var (
	protocols  = []string{"PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"}
	passwords  = []string{"PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"}
	mechanisms = append(slices.Clone(passwords), OAuthBearer)
)

// Settings are how a program reaches Kafka. They hold secrets: do not log them.
type Settings struct {
	Brokers   []string
	Protocol  string
	Mechanism string
	Username  string
	Password  string

	CAFile, CertificateFile, KeyFile string
	KeyPassword                      string

	OAuth Credentials
}

// Credentials get tokens for OAUTHBEARER.
type Credentials struct {
	TokenURL, ClientID, ClientSecret, Scope string
}

// FromEnvironment reads and checks the settings. It connects to nothing.
func FromEnvironment() (Settings, error) {
	s := Settings{
		Brokers: brokers(os.Getenv(Bootstrap)), Protocol: os.Getenv(Protocol), Mechanism: os.Getenv(Mechanism), Username: os.Getenv(Username),
		CAFile: os.Getenv(CAFile), CertificateFile: os.Getenv(CertificateFile), KeyFile: os.Getenv(KeyFile),
		OAuth: Credentials{TokenURL: os.Getenv(OAuthTokenURL), ClientID: os.Getenv(OAuthClientID), Scope: os.Getenv(OAuthScope)},
	}
	if s.Protocol == "" {
		s.Protocol = "PLAINTEXT"
	}
	var errs [3]error
	s.Password, errs[0] = secret(Password, PasswordFile)
	s.KeyPassword, errs[1] = secret("", KeyPasswordFile)
	s.OAuth.ClientSecret, errs[2] = secret("", OAuthClientSecret)
	if err := errors.Join(errs[:]...); err != nil {
		return s, err
	}
	return s, errors.Join(s.checkTLS(), s.checkSASL())
}

// TLS reports whether connections are encrypted.
func (s *Settings) TLS() bool { return strings.HasSuffix(s.Protocol, "SSL") }

func (s *Settings) sasl() bool { return strings.HasPrefix(s.Protocol, "SASL_") }

func brokers(text string) []string {
	var found []string
	for broker := range strings.SplitSeq(text, ",") {
		if broker = strings.TrimSpace(broker); broker != "" {
			found = append(found, broker)
		}
	}
	return found
}

// secret returns what a variable or a file has; one of the two may be set.
func secret(variable, fileVariable string) (string, error) {
	value, file := "", os.Getenv(fileVariable)
	if variable != "" {
		value = os.Getenv(variable)
	}
	switch {
	case file == "":
		return value, nil
	case value != "":
		return "", fmt.Errorf("%s and %s are both set: remove one of them", variable, fileVariable)
	}
	content, err := os.ReadFile(file) //nolint:gosec // G703: whoever starts the program names the file
	if err != nil {
		return "", fmt.Errorf("%s: %w", fileVariable, err)
	}
	if value = strings.TrimSpace(string(content)); value == "" {
		return "", fmt.Errorf("%s: %s is empty", fileVariable, file)
	}
	return value, nil
}

func (s *Settings) checkTLS() error {
	if !slices.Contains(protocols, s.Protocol) {
		return fmt.Errorf("%s is %q: use %s", Protocol, s.Protocol, strings.Join(protocols, ", "))
	}
	for _, name := range []string{CAFile, CertificateFile, KeyFile, KeyPasswordFile} {
		file := os.Getenv(name)
		if file == "" {
			continue
		}
		if !s.TLS() {
			return fmt.Errorf("%s has no effect with %s=%s: set SSL or SASL_SSL", name, Protocol, s.Protocol)
		}
		if _, err := os.Stat(file); err != nil { //nolint:gosec // G703: whoever starts the program names the file
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if (s.CertificateFile == "") != (s.KeyFile == "") {
		return fmt.Errorf("mutual TLS needs both %s and %s", CertificateFile, KeyFile)
	}
	if s.KeyPassword != "" && s.KeyFile == "" {
		return fmt.Errorf("%s has no effect without %s", KeyPasswordFile, KeyFile)
	}
	return nil
}

func (s *Settings) checkSASL() error {
	if !s.sasl() {
		for _, name := range []string{Mechanism, Username, Password, PasswordFile} {
			if os.Getenv(name) != "" {
				return fmt.Errorf("%s has no effect with %s=%s: set SASL_SSL", name, Protocol, s.Protocol)
			}
		}
	}
	if s.Mechanism != OAuthBearer {
		for _, name := range []string{OAuthTokenURL, OAuthClientID, OAuthClientSecret} {
			if os.Getenv(name) != "" {
				return fmt.Errorf("%s has an effect only with %s=%s", name, Mechanism, OAuthBearer)
			}
		}
	}
	switch {
	case !s.sasl():
		return nil
	case s.Mechanism == OAuthBearer:
		return s.OAuth.check()
	case !slices.Contains(passwords, s.Mechanism):
		return fmt.Errorf("%s is %q: use %s", Mechanism, s.Mechanism, strings.Join(mechanisms, ", "))
	case s.Username == "" || s.Password == "":
		return fmt.Errorf("%s needs %s and %s or %s", s.Protocol, Username, Password, PasswordFile)
	}
	return nil
}

func (c Credentials) check() error {
	for name, value := range map[string]string{OAuthTokenURL: c.TokenURL, OAuthClientID: c.ClientID, OAuthClientSecret: c.ClientSecret} {
		if value == "" {
			return fmt.Errorf("%s needs %s", OAuthBearer, name)
		}
	}
	address, err := url.Parse(c.TokenURL)
	if err != nil || address.Host == "" || address.User != nil {
		return fmt.Errorf("%s is no address of a token endpoint, such as https://login.example.net/token", OAuthTokenURL)
	}
	if ip := net.ParseIP(address.Hostname()); address.Scheme == "https" || address.Scheme == "http" && (address.Hostname() == "localhost" || ip.IsLoopback()) {
		return nil
	}
	return fmt.Errorf("%s must begin with https:// because the client secret goes there; http:// is for this machine only", OAuthTokenURL)
}

// TLSConfig returns how connections are encrypted, nil where they are not.
func (s *Settings) TLSConfig() (*tls.Config, error) {
	if !s.TLS() {
		return nil, nil //nolint:nilnil // no encryption is a setting, too
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if s.CAFile != "" {
		content, err := os.ReadFile(s.CAFile)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", CAFile, err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(content) {
			return nil, fmt.Errorf("%s: %s has no usable certificate", CAFile, s.CAFile)
		}
	}
	if s.CertificateFile == "" {
		return config, nil
	}
	pair, err := s.keyPair()
	if err != nil {
		return nil, err
	}
	config.Certificates = []tls.Certificate{pair}
	return config, nil
}
