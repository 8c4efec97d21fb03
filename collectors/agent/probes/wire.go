package probes

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
)

// A probe and its answer have the same fixed length, so that an answer can never be longer than what caused it:
//
//	0   magic and version "WWP1"
//	4   kind: 1 request, 2 answer
//	5   zero, 3 bytes
//	8   session: 16 random bytes of the VF that asks, new when its agent starts
//	24  sequence number, big endian
//	32  message authentication code of the bytes before: HMAC-SHA256, the first 16 bytes
const (
	messageLength = 48
	sessionLength = 16
	authenticated = 32
	magic         = "WWP1"
)

type kind byte

const (
	request kind = 1
	answer  kind = 2
)

// session is chosen at random for each VF when the agent starts, so that an answer to an earlier run is not taken for an answer to this one.
type session [sessionLength]byte

type message struct {
	kind     kind
	session  session
	sequence uint64
}

// errNotAProbe is for whatever arrives at the port and is no message, or is one of somebody without the key.
var errNotAProbe = errors.New("not a probe of this key")

// encode writes m into a new packet. There is no time in it: the asking side keeps the time per sequence number, so that nobody else's clock
// and no packet can change what is measured.
func encode(m message, key []byte) []byte {
	packet := make([]byte, messageLength)
	copy(packet, magic)
	packet[4] = byte(m.kind)
	copy(packet[8:], m.session[:])
	binary.BigEndian.PutUint64(packet[24:], m.sequence)
	copy(packet[authenticated:], code(packet[:authenticated], key))
	return packet
}

// decode reads a packet. The code is compared last, because it costs most.
func decode(packet, key []byte) (message, error) {
	if len(packet) != messageLength || string(packet[:4]) != magic || packet[5] != 0 || packet[6] != 0 || packet[7] != 0 {
		return message{}, errNotAProbe
	}
	m := message{kind: kind(packet[4]), sequence: binary.BigEndian.Uint64(packet[24:])}
	copy(m.session[:], packet[8:])
	if m.kind != request && m.kind != answer {
		return message{}, errNotAProbe
	}
	if !hmac.Equal(packet[authenticated:], code(packet[:authenticated], key)) {
		return message{}, errNotAProbe
	}
	return m, nil
}

func code(content, key []byte) []byte {
	h := hmac.New(sha256.New, key)
	h.Write(content)
	return h.Sum(nil)[:messageLength-authenticated]
}
