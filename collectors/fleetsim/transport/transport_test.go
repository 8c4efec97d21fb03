package transport

import (
	"encoding/binary"
	"encoding/hex"
	"net/netip"
	"strings"
	"testing"
)

func intent(model string, qps int, verb string, events ...Event) *Intent {
	in := &Intent{}
	in.Requester.NIC.Type, in.Responder.NIC.Type = model, model
	in.Requester.NIC.IPList, in.Responder.NIC.IPList = []string{"10.0.0.1/24"}, []string{"10.0.0.2/24"}
	in.Requester.RoCE.NotificationPoint, in.Responder.RoCE.NotificationPoint = true, true
	in.Traffic = Traffic{QueuePairs: qps, Verb: verb, Messages: 2, MTU: 1024, MessageSize: 10_000, TxDepth: 1, Timeout: 14, Retries: 7, Events: events}
	return in
}

// The CNP of a real ConnectX-4 Lx, with its ICRC, but for the fields that the ICRC leaves out.
func TestTheICRCOfARealCNPIsComputed(t *testing.T) {
	real, err := hex.DecodeString("45c2003c718c4000401191610a0011010a001201000012b7002800008100ffff40000118" + strings.Repeat("00", 20) + "82fd002a")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := invariantCRC(real[:len(real)-4]), binary.LittleEndian.Uint32(real[len(real)-4:]); got != want {
		t.Errorf("ICRC %08x, want %08x", got, want)
	}
	p := packet{from: netip.MustParseAddr("10.0.17.1"), to: netip.MustParseAddr("10.0.18.1"), opcode: opCNP, qpn: 0x118, ipID: 0x718C}
	ours := p.bytes()
	if len(ours) != headerIP+len(real) {
		t.Errorf("a CNP has %d bytes, want %d", len(ours)-headerIP, len(real))
	}
}

func TestEveryMessageCompletesWhateverIsLost(t *testing.T) {
	for _, model := range Models() {
		for _, verb := range []string{"write", "send", "read"} {
			in := intent(model, 3, verb, Event{0, 0, "drop", 1}, Event{0, 9, "drop", 1}, Event{1, 4, "corrupt", 1}, Event{1, 4, "drop", 2}, Event{2, 19, "drop", 1})
			r, err := Run(in, Options{Seed: 3})
			if err != nil {
				t.Fatalf("%s %s: %s", model, verb, err)
			}
			if len(r.Failed) > 0 || len(r.Retransmissions) < 4 {
				t.Errorf("%s %s: failed %v, %d retransmissions", model, verb, r.Failed, len(r.Retransmissions))
			}
		}
	}
}

func TestAConnectionThatLosesTheSamePacketForeverFails(t *testing.T) {
	var events []Event
	for i := 1; i < 20; i++ {
		events = append(events, Event{0, 9, "drop", i})
	}
	r, err := Run(intent("cx5", 2, "write", events...), Options{Seed: 1})
	if err != nil || len(r.Failed) != 1 || r.Failed[0] != 0 {
		t.Errorf("failed %v, %v", r, err)
	}
}

func TestTheSameSeedGivesTheSameCapture(t *testing.T) {
	run := func(seed uint64) string {
		r, err := Run(intent("e810", 4, "send", Event{1, 3, "drop", 1}), Options{Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		return string(r.Capture)
	}
	first, again, other := run(5), run(5), run(6)
	if first != again || first == other {
		t.Error("captures do not follow their seeds")
	}
}

func TestWhatCannotBeSimulatedIsRefused(t *testing.T) {
	broken := map[string]func(*Intent){
		"no transport engine of": func(in *Intent) { in.Requester.NIC.Type = "cx9" },
		"is not write, send":     func(in *Intent) { in.Traffic.Verb = "fly" },
		"connections, not 0":     func(in *Intent) { in.Traffic.QueuePairs = 0 },
		"must be positive":       func(in *Intent) { in.Traffic.MTU = 0 },
		"at most 4000000":        func(in *Intent) { in.Traffic.Messages = 1 << 30 },
		"has no address":         func(in *Intent) { in.Responder.NIC.IPList = nil },
		"is no address":          func(in *Intent) { in.Responder.NIC.IPList = []string{"here"} },
		"IPv4 addresses only":    func(in *Intent) { in.Responder.NIC.IPList = []string{"2001:db8::1/64"} },
		"is not drop, ecn":       func(in *Intent) { in.Traffic.Events = []Event{{0, 0, "delay", 1}} },
		"min-retransmit-timeout": func(in *Intent) { in.Traffic.Timeout = 40 },
	}
	for words, change := range broken {
		in := intent("cx5", 1, "write")
		change(in)
		if _, err := Run(in, Options{}); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%q: %v", words, err)
		}
	}
}
