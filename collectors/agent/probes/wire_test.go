package probes

import (
	"bytes"
	"testing"
	"time"
)

var testKey = []byte("a key of sixteen or more bytes")

func TestAMessageIsReadAsItWasWritten(t *testing.T) {
	for _, want := range []message{{kind: request, sequence: 1}, {kind: answer, kept: 1234500 * time.Nanosecond, session: session{1, 2, 3}, sequence: 1<<64 - 1}} {
		packet := encode(want, testKey)
		if got, err := decode(packet, testKey); err != nil || got != want || len(packet) != messageLength {
			t.Errorf("%+v, %v from %d bytes; want %+v", got, err, len(packet), want)
		}
	}
}

func TestHowLongARequestWasKeptIsRoundedDownAndBounded(t *testing.T) {
	for kept, want := range map[time.Duration]time.Duration{199: 100, time.Hour: keptMost * keptUnit, 0: 0} {
		if m, err := decode(encode(message{kind: answer, kept: kept}, testKey), testKey); err != nil || m.kept != want {
			t.Errorf("%s becomes %s, %v", kept, m.kept, err)
		}
	}
	if m, err := decode(encode(message{kind: request, kept: time.Second}, testKey), testKey); err == nil {
		t.Errorf("a request that was kept: %+v", m)
	}
}

func TestNoChangedPacketIsAMessage(t *testing.T) {
	packet := encode(message{kind: request, session: session{7}, sequence: 9}, testKey)
	for bit := range len(packet) * 8 {
		changed := bytes.Clone(packet)
		changed[bit/8] ^= 1 << (bit % 8)
		if m, err := decode(changed, testKey); err == nil {
			t.Fatalf("bit %d: %+v", bit, m)
		}
	}
	for length := range packet {
		if _, err := decode(packet[:length], testKey); err == nil {
			t.Errorf("the first %d bytes are a message", length)
		}
	}
	if _, err := decode(append(packet, 0), testKey); err == nil {
		t.Error("a longer packet is a message")
	}
	if _, err := decode(packet, []byte("another key of sixteen bytes")); err == nil {
		t.Error("a packet of another key is a message")
	}
}

// FuzzWhateverArrivesIsReadOnce looks for packets that panic, or that are read as something that would have been written differently.
func FuzzWhateverArrivesIsReadOnce(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte(magic))
	f.Add(encode(message{kind: request, session: session{1}, sequence: 5}, testKey))
	f.Add(encode(message{kind: answer, session: session{255}, sequence: 1 << 63}, testKey))
	f.Add(encode(message{kind: answer, kept: time.Millisecond}, testKey))
	f.Add(encode(message{kind: 3, sequence: 5}, testKey))
	f.Fuzz(func(t *testing.T, packet []byte) {
		m, err := decode(packet, testKey)
		if err == nil && !bytes.Equal(encode(m, testKey), packet) {
			t.Fatalf("%x is read as %+v", packet, m)
		}
		// The same content with a good code, so that what is behind the code is reached too.
		if len(packet) < authenticated {
			return
		}
		signed := append(bytes.Clone(packet[:authenticated]), code(packet[:authenticated], testKey)...)
		if m, err = decode(signed, testKey); err == nil && !bytes.Equal(encode(m, testKey), signed) {
			t.Fatalf("%x is read as %+v", signed, m)
		}
	})
}
