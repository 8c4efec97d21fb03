package probes

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wallwatch/wallwatch/collectors/internal/probefile"
	"github.com/wallwatch/wallwatch/collectors/internal/waittest"
)

// loopback returns an address of this machine that no other test uses.
func loopback() netip.Addr {
	return netip.AddrFrom4([4]byte{127, byte(1 + rand.N(250)), byte(rand.N(256)), byte(1 + rand.N(250))})
}

// start runs a prober until the test ends, and returns it.
func start(t *testing.T, config Config) *Prober {
	t.Helper()
	p, err := New(config, "host01", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { p.Run(ctx) })
	t.Cleanup(func() { stop(); running.Wait() })
	return p
}

func (e *endpoint) total() counts {
	_, _, _, total := e.exchange.delays(time.Now())
	return total
}

func TestTwoHostsMeasureEachOther(t *testing.T) {
	first, second := goodConfig(t), goodConfig(t)
	addresses := []netip.Addr{loopback(), loopback()}
	for i, c := range []*Config{&first, &second} {
		c.Peers, c.PerSecond, c.WindowSeconds = addresses, 10, 60 // its own address among the peers: it is left out
		c.VFs[0].Address = addresses[i]
	}
	start(t, first)
	start(t, second)
	for _, c := range []Config{first, second} {
		waittest.UntilNil(t, "delays in the file", func() error {
			read, err := probefile.Read(c.File)
			if err != nil {
				return err
			}
			if len(read.VFs) != 1 || read.VFs[0].Count < 3 {
				return fmt.Errorf("%+v", read)
			}
			if vf := read.VFs[0]; vf.PCI != "0000:3b:00.0" || vf.VF != 3 || vf.P50US <= 0 || vf.P99US < vf.P50US {
				t.Fatalf("%+v", vf)
			}
			return nil
		})
	}
}

func TestTheKernelNotesWhenAnswersArrive(t *testing.T) {
	asking, answering := goodConfig(t), goodConfig(t)
	asking.VFs[0].Address, answering.VFs[0].Address = loopback(), loopback()
	asking.PerSecond, asking.Peers, answering.Peers = 10, []netip.Addr{answering.VFs[0].Address}, nil
	start(t, answering)
	p := start(t, asking)
	// The kernel begins to note arrivals a little after it is asked to, so the first ones may be without.
	waittest.Until(t, "answers whose arrival the kernel noted", func() bool { return p.endpoints[0].total().stamped >= 3 })
}

func TestAHostWithoutPeersOnlyAnswers(t *testing.T) {
	c := goodConfig(t)
	c.Peers, c.VFs[0].Address = nil, loopback()
	p := start(t, c)
	connection := dial(t, p.endpoints[0].local)
	ask(t, connection, encode(message{kind: request, session: session{1}, sequence: 7}, testKey), func(packet []byte) bool {
		m, err := decode(packet, testKey)
		return err == nil && m == message{kind: answer, kept: m.kept, session: session{1}, sequence: 7}
	})
	if total := p.endpoints[0].total(); total.sent != 0 {
		t.Errorf("%+v", total)
	}
}

func TestForeignPacketsGetNoAnswer(t *testing.T) {
	c := goodConfig(t)
	c.Peers, c.VFs[0].Address = nil, loopback()
	p := start(t, c)
	connection := dial(t, p.endpoints[0].local)
	good := encode(message{kind: request, sequence: 7}, testKey)
	sent := 0
	waittest.Until(t, "foreign packets counted", func() bool { // the first ones may come before the socket is open
		for _, packet := range []string{"", "hello", strings.Repeat("x", messageLength), strings.Repeat("x", 1400), string(good) + "x", string(good[:47])} {
			_, _ = connection.Write([]byte(packet)) // refused as long as nobody listens
			sent++
		}
		return p.endpoints[0].total().foreign >= 6
	})
	// An answer to one of them would come before this one.
	ask(t, connection, good, func(packet []byte) bool { m, err := decode(packet, testKey); return err == nil && m.sequence == 7 })
	if total := p.endpoints[0].total(); total.foreign > uint64(sent) {
		t.Errorf("%d sent, %+v", sent, total)
	}
}

func TestAFloodCostsAtMostTheLimit(t *testing.T) {
	c := goodConfig(t)
	c.Peers, c.VFs[0].Address = nil, loopback()
	p := start(t, c)
	connection := dial(t, p.endpoints[0].local)
	packet := encode(message{kind: request, sequence: 7}, testKey)
	begin := time.Now()
	waittest.Until(t, "a source beyond its limit", func() bool {
		for range 4 * answersPerSource {
			_, _ = connection.Write(packet)
		}
		return p.endpoints[0].total().limited > answersPerSource
	})
	total, elapsed := p.endpoints[0].total(), time.Since(begin).Seconds()
	if most := answersPerSource * (elapsed + 2); float64(total.replied) > most {
		t.Errorf("%d replies in %.1f s", total.replied, elapsed)
	}
}

func TestTheWholeHostHasOneLimit(t *testing.T) {
	c := goodConfig(t)
	c.PerSecond, c.MaxPerSecond = 10, 1
	c.Peers = []netip.Addr{loopback(), loopback(), loopback(), loopback()}
	c.VFs = []VF{{PCI: "0000:3b:00.0", VF: 1, Address: loopback()}, {PCI: "0000:3b:00.0", VF: 2, Address: loopback()}}
	begin := time.Now()
	p := start(t, c)
	waittest.Until(t, "probes withheld for both VFs", func() bool {
		return p.endpoints[0].total().withheld >= 5 && p.endpoints[1].total().withheld >= 5
	})
	sent := uint64(0)
	for _, e := range p.endpoints {
		total := e.total()
		sent += total.sent + total.unsent
	}
	if elapsed := time.Since(begin).Seconds(); float64(sent) > elapsed*c.MaxPerSecond+1 {
		t.Errorf("%d probes in %.1f s", sent, elapsed)
	}
}

func TestAnAddressThatIsNotHereIsUnknownAndDisturbsNobody(t *testing.T) {
	c := goodConfig(t)
	here, elsewhere := loopback(), netip.MustParseAddr("192.0.2.77")
	c.PerSecond, c.WindowSeconds, c.Peers = 10, 60, []netip.Addr{here}
	c.VFs = []VF{
		{PCI: "0000:3b:00.0", VF: 1, Address: elsewhere},
		{PCI: "0000:3b:00.0", VF: 2, Address: loopback()},
		{PCI: "0000:3b:00.0", VF: 3, Address: here, Device: "nodevice0"},
		{PCI: "0000:3b:00.0", VF: 4, Address: loopback(), Device: "lo"},
	}
	answering := goodConfig(t)
	answering.Peers, answering.VFs[0].Address = nil, here
	start(t, answering)
	start(t, c)
	waittest.UntilNil(t, "the delays of VF 2 and VF 4 alone", func() error {
		read, err := probefile.Read(c.File)
		if err == nil && (len(read.VFs) != 2 || read.VFs[0].VF != 2 || read.VFs[1].VF != 4) {
			err = fmt.Errorf("%+v", read)
		}
		return err
	})
}

func dial(t *testing.T, address netip.AddrPort) *net.UDPConn {
	t.Helper()
	connection, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(address))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = connection.Close() })
	return connection
}

// ask sends the packet until something comes back, because UDP promises nothing and the socket may not be open yet. The first answer must be the right one.
func ask(t *testing.T, connection *net.UDPConn, packet []byte, right func([]byte) bool) {
	t.Helper()
	buffer := make([]byte, 2048)
	waittest.UntilNil(t, "an answer", func() error {
		if _, err := connection.Write(packet); err != nil {
			return err
		}
		_ = connection.SetReadDeadline(time.Now().Add(time.Second))
		length, err := connection.Read(buffer)
		if err == nil && !right(buffer[:length]) {
			t.Fatalf("%x came back", buffer[:length])
		}
		return err
	})
}
