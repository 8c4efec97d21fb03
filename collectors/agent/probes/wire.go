package probes

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"time"
)

// A probe and its answer have the same fixed length, so that an answer can never be longer than what caused it:
//
//	0   magic and version "WWP1"
//	4   kind: 1 request, 2 answer
//	5   in an answer how long the request was kept, in units of 100 ns, 3 bytes big endian; zero in a request
//	8   session: 16 random bytes of the VF that asks, new when its agent starts
//	24  sequence number, big endian
//	32  message authentication code of the bytes before: HMAC-SHA256, the first 16 bytes
const (
	messageLength = 48
	sessionLength = 16
	authenticated = 32
	magic         = "WWP1"

	keptUnit = 100 * time.Nanosecond
	keptMost = 1<<24 - 1
)

type kind byte

const (
	request kind = 1
	answer  kind = 2
)

// session is chosen at random for each VF when the agent starts, so that an answer to an earlier run is not taken for an answer to this one.
type session [sessionLength]byte

type message struct {
	kind kind
	// kept is the time from the arrival of the request until this answer to it, rounded down.
	kept     time.Duration
	session  session
	sequence uint64
}

// errNotAProbe is for whatever arrives at the port and is no message, or is one of somebody without the key.
var errNotAProbe = errors.New("not a probe of this key")

// encode writes m into a new packet. No clock is in it: the asking side keeps the time per sequence number. How long the other side kept the
// request is a difference on its own clock, and can at most be as long as the round trip.
func encode(m message, key []byte) []byte {
	packet := make([]byte, messageLength)
	copy(packet, magic)
	packet[4] = byte(m.kind)
	kept := min(uint64(m.kept/keptUnit), keptMost)                              //nolint:gosec // G115: it is not negative
	packet[5], packet[6], packet[7] = byte(kept>>16), byte(kept>>8), byte(kept) //nolint:gosec // G115: three bytes of it
	copy(packet[8:], m.session[:])
	binary.BigEndian.PutUint64(packet[24:], m.sequence)
	copy(packet[authenticated:], code(packet[:authenticated], key))
	return packet
}

// decode reads a packet. The code is compared last, because it costs most.
func decode(packet, key []byte) (message, error) {
	if len(packet) != messageLength || string(packet[:4]) != magic {
		return message{}, errNotAProbe
	}
	kept := time.Duration(packet[5])<<16 | time.Duration(packet[6])<<8 | time.Duration(packet[7])
	m := message{kind: kind(packet[4]), kept: kept * keptUnit, sequence: binary.BigEndian.Uint64(packet[24:])}
	copy(m.session[:], packet[8:])
	if m.kind != request && m.kind != answer || m.kind == request && kept != 0 {
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
