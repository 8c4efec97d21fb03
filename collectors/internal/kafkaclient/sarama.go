package kafkaclient

import (
	"crypto/sha256"
	"crypto/sha512"

	"github.com/IBM/sarama"
	"github.com/xdg/scram"
)

// Apply gives a client of the library sarama TLS and a user.
func (s *Settings) Apply(config *sarama.Config) error {
	encryption, err := s.TLSConfig()
	if err != nil {
		return err
	}
	if encryption != nil {
		config.Net.TLS.Enable, config.Net.TLS.Config = true, encryption
	}
	if !s.sasl() {
		return nil
	}
	config.Net.SASL.Enable = true
	config.Net.SASL.Mechanism = sarama.SASLMechanism(s.Mechanism)
	config.Net.SASL.Version = sarama.SASLHandshakeV1
	switch s.Mechanism {
	case OAuthBearer:
		config.Net.SASL.TokenProvider = NewTokens(s.OAuth)
		return nil
	case "SCRAM-SHA-256":
		config.Net.SASL.SCRAMClientGeneratorFunc = func() sarama.SCRAMClient { return &conversation{hash: sha256.New} }
	case "SCRAM-SHA-512":
		config.Net.SASL.SCRAMClientGeneratorFunc = func() sarama.SCRAMClient { return &conversation{hash: sha512.New} }
	}
	config.Net.SASL.User, config.Net.SASL.Password = s.Username, s.Password
	return nil
}

// conversation is one sign-in by SCRAM.
type conversation struct {
	*scram.ClientConversation
	hash scram.HashGeneratorFcn
}

// Begin prepares the first message.
func (c *conversation) Begin(user, password, authorisation string) error {
	client, err := c.hash.NewClient(user, password, authorisation)
	if err != nil {
		return err
	}
	c.ClientConversation = client.NewConversation()
	return nil
}
