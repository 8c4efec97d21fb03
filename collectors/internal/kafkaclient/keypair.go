package kafkaclient

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"

	"go.step.sm/crypto/pemutil"
)

const (
	encryptedType = "ENCRYPTED PRIVATE KEY" // PKCS #8, the only encrypted form that Go's ecosystem still reads
	plainType     = "PRIVATE KEY"
)

// keyPair reads this client's certificate and its key, which may be encrypted.
func (s *Settings) keyPair() (tls.Certificate, error) {
	certificate, err := os.ReadFile(s.CertificateFile)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("%s: %w", CertificateFile, err)
	}
	key, err := s.plainKey()
	if err != nil {
		return tls.Certificate{}, err
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("%s and %s: %w", CertificateFile, KeyFile, err)
	}
	return pair, nil
}

// plainKey returns the key as PEM, decrypted if it has a password.
func (s *Settings) plainKey() ([]byte, error) {
	content, err := os.ReadFile(s.KeyFile)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", KeyFile, err)
	}
	block, _ := pem.Decode(content)
	switch {
	case block == nil:
		return nil, fmt.Errorf("%s: %s is no PEM file", KeyFile, s.KeyFile)
	case block.Headers["Proc-Type"] == "4,ENCRYPTED":
		return nil, fmt.Errorf("%s: %s is encrypted in an old form: convert it with `openssl pkcs8 -topk8`", KeyFile, s.KeyFile)
	case block.Type != encryptedType && s.KeyPassword != "":
		return nil, fmt.Errorf("%s is set, but %s is not encrypted", KeyPasswordFile, s.KeyFile)
	case block.Type != encryptedType:
		return content, nil
	case s.KeyPassword == "":
		return nil, fmt.Errorf("%s: %s is encrypted: set %s", KeyFile, s.KeyFile, KeyPasswordFile)
	}
	decrypted, err := pemutil.DecryptPKCS8PrivateKey(block.Bytes, []byte(s.KeyPassword))
	if err == nil {
		// One wrong password in 256 seems to decrypt: only the padding is checked, not what comes out.
		_, err = x509.ParsePKCS8PrivateKey(decrypted)
	}
	if err != nil {
		return nil, fmt.Errorf("%s does not decrypt %s: %w", KeyPasswordFile, s.KeyFile, err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: plainType, Bytes: decrypted}), nil
}
