package command

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"strings"

	"github.com/go-jose/go-jose/v4"
)

// MaxBytes is the size of the largest message looked at. A command with every field full is under 2 KiB.
const MaxBytes = 16 << 10

// MessageType is the value of the header `typ`, so that a token signed for another purpose by the same key is not a command.
const MessageType = "wallwatch-command+jws"

// Decoder accepts commands for one host that are signed with one of the pinned keys.
type Decoder struct {
	host string
	ring *keyring
}

// NewDecoder pins keys, by key id.
func NewDecoder(host string, keys map[string]Key) (*Decoder, error) {
	if host == "" {
		return nil, errors.New("the decoder needs the host's name")
	}
	if len(keys) == 0 {
		return nil, errors.New("no command key is pinned, so no command could be accepted; enrol the agent again")
	}
	if err := checkKeys(keys); err != nil {
		return nil, err
	}
	return &Decoder{host: host, ring: &keyring{keys: maps.Clone(keys)}}, nil
}

// Decode verifies a compact JWS and reads the command in it. Only EdDSA is accepted, whatever the header says. The signature is checked before
// anything of the payload is believed.
func (d *Decoder) Decode(message []byte) (*Command, *Refusal) {
	if len(message) > MaxBytes {
		return nil, refuse(CodeMalformed, "the message has %d bytes, %d is the most", len(message), MaxBytes)
	}
	payload, signer, refusal := d.verify(string(message), MessageType)
	if refusal != nil {
		refusal.CommandID, refusal.RemedyID = claimedIDs(message)
		return nil, refusal
	}
	command, refusal := parsePayload(payload)
	if refusal != nil {
		refusal.Authentic = true
		return nil, refusal
	}
	if command.Host != d.host {
		return nil, command.sign(refuse(CodeWrongHost, "the command is for host %s, this is %q", quote(command.Host), d.host))
	}
	command.keyRetires, command.keysAsOf = signer.NotAfter, d.ring.asOf()
	return command, nil
}

// verify returns the payload of a message of a kind that a pinned key has signed, and that key.
func (d *Decoder) verify(compact, kind string) ([]byte, Key, *Refusal) {
	object, err := jose.ParseSignedCompact(compact, []jose.SignatureAlgorithm{jose.EdDSA})
	if err != nil {
		var algorithm *jose.ErrUnexpectedSignatureAlgorithm
		if errors.As(err, &algorithm) {
			return nil, Key{}, refuse(CodeBadSignature, "signature algorithm %s is not accepted, only EdDSA", quote(string(algorithm.Got)))
		}
		return nil, Key{}, refuse(CodeMalformed, "not a compact JWS: %v", err)
	}
	header := object.Signatures[0].Protected
	key, known := d.ring.find(header.KeyID)
	if !known {
		return nil, Key{}, refuse(CodeUnknownKey, "no pinned key has the id %s; if the server's key was replaced, enrol the agent again", quote(header.KeyID))
	}
	payload, err := object.Verify(key.Public)
	if err != nil {
		return nil, Key{}, refuse(CodeBadSignature, "the signature does not match the pinned key %q", header.KeyID)
	}
	if found, _ := header.ExtraHeaders[jose.HeaderType].(string); found != kind {
		return nil, Key{}, refuse(CodeMalformed, "typ is %s, such a message has %q", quote(found), kind)
	}
	return payload, key, nil
}

// claimedIDs reads the ids out of a message that is not to be trusted, so that its sender's log and ours can be compared.
func claimedIDs(message []byte) (commandID, remedyID string) {
	parts := strings.Split(string(message), ".")
	if len(parts) != 3 {
		return "", ""
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return "", ""
	}
	var claim struct {
		CommandID string `json:"command_id"`
		RemedyID  string `json:"remedy_id"`
	}
	if json.Unmarshal(payload, &claim) != nil || !uuidForm.MatchString(claim.CommandID) {
		return "", ""
	}
	if !uuidForm.MatchString(claim.RemedyID) {
		claim.RemedyID = ""
	}
	return claim.CommandID, claim.RemedyID
}
