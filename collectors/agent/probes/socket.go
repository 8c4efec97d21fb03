package probes

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/wallwatch/wallwatch/collectors/internal/wait"
)

// retryPause is how long a VF whose address cannot be used waits for the next attempt: the VF may come later, or go.
const retryPause = 10 * time.Second

// hostLimit is the limit of the whole host, which its VFs share.
type hostLimit struct {
	mu     sync.Mutex
	bucket bucket
}

func (l *hostLimit) take(now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.bucket.take(now)
}

// endpoint is the socket of one VF's address: it asks the peers and answers others.
type endpoint struct {
	vf       VF
	local    netip.AddrPort
	peers    []netip.AddrPort
	interval time.Duration
	limit    *hostLimit
	exchange *exchange
	log      *slog.Logger
}

// run keeps the socket open until ctx ends. An address that is not there, or no longer, is a matter for the log: the VF may be in a container now.
func (e *endpoint) run(ctx context.Context) {
	logged := ""
	for ctx.Err() == nil {
		err := e.serve(ctx, func() { logged = "" })
		if ctx.Err() != nil {
			return
		}
		if text := err.Error(); text != logged {
			e.log.Warn("this VF's address cannot be used for probes; its delay is unknown until it can", "error", text, "retry_every", retryPause.String())
			logged = text
		}
		wait.For(ctx, retryPause)
	}
}

// serve opens the socket, calls opened, and uses it until ctx ends or the socket fails.
func (e *endpoint) serve(ctx context.Context, opened func()) error {
	connection, err := listen(ctx, e.local, e.vf.Device)
	if err != nil {
		return err
	}
	opened()
	if err := stampArrivals(connection); err != nil {
		e.log.Warn("this kernel does not note when packets arrive: delays include the time until the agents get a CPU", "error", err.Error())
	}
	e.log.Info("probes: listening", "address", connection.LocalAddr().String(), "peers", len(e.peers))
	inner, end := context.WithCancel(ctx)
	context.AfterFunc(inner, func() { _ = connection.Close() }) // ends a read that waits
	var asking sync.WaitGroup
	asking.Go(func() { e.askPeers(inner, connection) })
	err = e.read(inner, connection)
	end()
	asking.Wait()
	return err
}

func listen(ctx context.Context, local netip.AddrPort, device string) (*net.UDPConn, error) {
	config := net.ListenConfig{}
	if device != "" {
		config.Control = func(_, _ string, socket syscall.RawConn) error { return bindToDevice(socket, device) }
	}
	opened, err := config.ListenPacket(ctx, "udp", local.String())
	if err != nil {
		return nil, err
	}
	return opened.(*net.UDPConn), nil // what network "udp" gives
}

func bindToDevice(socket syscall.RawConn, device string) error {
	var bound error
	err := socket.Control(func(descriptor uintptr) {
		bound = unix.BindToDevice(int(descriptor), device) //nolint:gosec // G115: a descriptor is small
	})
	if err = errors.Join(err, bound); err != nil {
		return fmt.Errorf("binding to the device %q: %w", device, err)
	}
	return nil
}

// askPeers sends one request per interval, to the peers in turns.
func (e *endpoint) askPeers(ctx context.Context, connection *net.UDPConn) {
	if len(e.peers) == 0 {
		return // this host only answers
	}
	ticker := time.NewTicker(e.interval)
	defer ticker.Stop()
	for next := 0; ; next = (next + 1) % len(e.peers) {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if !e.limit.take(time.Now()) {
			e.exchange.withhold()
			continue
		}
		packet, sequence := e.exchange.ask(e.peers[next], time.Now())
		if _, err := connection.WriteToUDPAddrPort(packet, e.peers[next]); err != nil {
			e.exchange.notSent(sequence)
		}
	}
}

// read handles packets until the socket is closed or fails. Beyond `readsPerSecond` it pauses, and the kernel drops what its buffer cannot hold.
func (e *endpoint) read(ctx context.Context, connection *net.UDPConn) error {
	budget := fullBucket(readsPerSecond, readsPerSecond/10, time.Now())
	packet := make([]byte, messageLength+1) // one byte more shows what is too long
	control := make([]byte, stampSpace)
	for {
		if pause := budget.wait(time.Now()); pause > 0 {
			wait.For(ctx, pause)
		}
		length, controlLength, _, source, err := connection.ReadMsgUDPAddrPort(packet, control)
		if err != nil {
			return err
		}
		came := arrival{read: time.Now(), stamp: stampOf(control[:controlLength])}
		budget.take(came.read)
		source = netip.AddrPortFrom(source.Addr().Unmap(), source.Port())
		if reply := e.exchange.take(packet[:length], source, came); reply != nil {
			// An answer that cannot be sent is a lost probe for the peer, which counts it.
			_, _ = connection.WriteToUDPAddrPort(reply, source)
		}
	}
}
