package probes

import (
	"net/netip"
	"testing"
	"time"
)

var (
	peer     = netip.MustParseAddrPort("192.0.2.2:8477")
	stranger = netip.MustParseAddrPort("198.51.100.9:8477")
)

// newTestExchange answers without keeping anything.
func newTestExchange() *exchange {
	x := newExchange(testKey, 10*time.Second)
	x.clock = func() time.Time { return noon }
	return x
}

// at is an arrival of which the kernel has noted nothing.
func at(now time.Time) arrival { return arrival{read: now} }

// reply is what the other side answers.
func reply(t *testing.T, packet []byte) []byte {
	t.Helper()
	answered := newTestExchange().take(packet, netip.MustParseAddrPort("192.0.2.1:8477"), at(noon))
	if answered == nil {
		t.Fatal("no reply")
	}
	return answered
}

func TestARoundTripIsMeasuredOnTheAskingSide(t *testing.T) {
	x := newTestExchange()
	packet, _ := x.ask(peer, noon)
	if back := x.take(reply(t, packet), peer, at(noon.Add(70*time.Microsecond))); back != nil {
		t.Errorf("an answer is answered with %x", back)
	}
	p50, p99, count, total := x.delays(noon.Add(time.Second))
	if p50 != 70*time.Microsecond || p99 != p50 || count != 1 || total != (counts{sent: 1, answered: 1}) {
		t.Errorf("%s, %s, %d, %+v", p50, p99, count, total)
	}
}

func TestARoundTripHasNeitherAgentsWaitingInIt(t *testing.T) {
	x, other := newTestExchange(), newTestExchange()
	packet, _ := x.ask(peer, noon)
	// The other agent read it 300 µs after its kernel had it, and needs 50 µs more.
	other.clock = func() time.Time { return noon.Add(time.Hour + 350*time.Microsecond) }
	answered := other.take(packet, netip.MustParseAddrPort("192.0.2.1:8477"), arrival{read: noon.Add(time.Hour + 300*time.Microsecond), stamp: noon.Add(time.Hour)})
	x.take(answered, peer, arrival{read: noon.Add(900 * time.Microsecond), stamp: noon.Add(420 * time.Microsecond)})
	if p50, _, count, total := x.delays(noon.Add(time.Second)); p50 != 70*time.Microsecond || count != 1 || total.stamped != 1 {
		t.Errorf("%s, %d, %+v", p50, count, total)
	}
}

func TestAnAnswerCountsOnceAndFromThePeerOnly(t *testing.T) {
	x := newTestExchange()
	packet, _ := x.ask(peer, noon)
	answered := reply(t, packet)
	x.take(answered, stranger, at(noon.Add(time.Millisecond)))
	x.take(answered, peer, at(noon.Add(2*time.Millisecond)))
	x.take(answered, peer, at(noon.Add(3*time.Millisecond)))
	p50, _, count, total := x.delays(noon.Add(time.Second))
	if p50 != 2*time.Millisecond || count != 1 || total != (counts{sent: 1, answered: 1, late: 1, foreign: 1}) {
		t.Errorf("%s, %d, %+v", p50, count, total)
	}
}

func TestAnAnswerToAnEarlierRunIsNone(t *testing.T) {
	before, x := newTestExchange(), newTestExchange()
	old, _ := before.ask(peer, noon)
	x.ask(peer, noon) // the same sequence number, another session
	x.take(reply(t, old), peer, at(noon.Add(time.Millisecond)))
	if _, _, count, total := x.delays(noon.Add(time.Second)); count != 0 || total.late != 1 {
		t.Errorf("%d, %+v", count, total)
	}
}

func TestALostProbeIsCountedAndForgotten(t *testing.T) {
	x := newTestExchange()
	packet, _ := x.ask(peer, noon)
	late := reply(t, packet)
	x.ask(peer, noon.Add(patience+time.Nanosecond))
	x.take(late, peer, at(noon.Add(patience+time.Millisecond)))
	_, _, count, total := x.delays(noon.Add(3 * time.Second))
	if count != 0 || len(x.waiting) != 1 || total != (counts{sent: 2, lost: 1, late: 1}) {
		t.Errorf("%d, %d waiting, %+v", count, len(x.waiting), total)
	}
}

func TestWhatWasNotSentIsNotLost(t *testing.T) {
	x := newTestExchange()
	_, sequence := x.ask(peer, noon)
	x.notSent(sequence)
	x.withhold()
	if _, _, _, total := x.delays(noon); total != (counts{unsent: 1, withheld: 1}) || len(x.waiting) != 0 {
		t.Errorf("%+v, %d waiting", total, len(x.waiting))
	}
}

func TestOnlyARequestWithTheKeyIsAnswered(t *testing.T) {
	good := encode(message{kind: request, sequence: 1}, testKey)
	for name, packet := range map[string][]byte{
		"nothing":            {},
		"text":               []byte("hello"),
		"another key":        encode(message{kind: request, sequence: 1}, []byte("another key of sixteen bytes")),
		"no code":            append(good[:authenticated:authenticated], make([]byte, 16)...),
		"longer":             append(good[:len(good):len(good)], 0),
		"an unasked answer":  encode(message{kind: answer, sequence: 1}, testKey),
		"an unknown kind":    encode(message{kind: 9, sequence: 1}, testKey),
		"bytes that are not": encode(message{kind: 0}, testKey),
	} {
		if answered := newTestExchange().take(packet, peer, at(noon)); answered != nil {
			t.Errorf("%s: %x", name, answered)
		}
	}
	for _, source := range []string{"192.0.2.2:0", "224.0.0.1:8477", "255.255.255.255:8477", "0.0.0.0:8477"} {
		if answered := newTestExchange().take(good, netip.MustParseAddrPort(source), at(noon)); answered != nil {
			t.Errorf("%s is answered", source)
		}
	}
	if answered := newTestExchange().take(good, peer, at(noon)); len(answered) != len(good) {
		t.Errorf("the answer to %d bytes has %d", len(good), len(answered))
	}
}

func TestASourceThatAsksTooMuchIsNotAnswered(t *testing.T) {
	x := newTestExchange()
	packet := encode(message{kind: request, sequence: 1}, testKey)
	for range 3 * answersPerSource {
		x.take(packet, stranger, at(noon))
	}
	if x.take(packet, peer, at(noon)) == nil {
		t.Error("another source is not answered")
	}
	if _, _, _, total := x.delays(noon); total.replied != answersPerSource+1 || total.limited != 2*answersPerSource {
		t.Errorf("%+v", total)
	}
}
