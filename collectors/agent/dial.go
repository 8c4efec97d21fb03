package agent

import (
	"context"
	"math/rand/v2"
	"net"
	"sync"
	"syscall"
	"time"
)

const (
	// A connection that breaks sooner than this counts as a failure: a server that accepts and hangs up must not be called in a loop.
	shortLived = 5 * time.Second
	firstPause = 500 * time.Millisecond
	longPause  = 30 * time.Second
	// deadPeer is how long unacknowledged bytes may be on the way before the kernel gives the connection up; the default is a quarter of an hour.
	deadPeer       = 30 * time.Second
	tcpUserTimeout = 18 // TCP_USER_TIMEOUT in linux/tcp.h
)

// pacedDialer dials TCP so that short-lived connections are retried ever more slowly, and dead peers are noticed. The pauses are jittered,
// because a restarted server is called by the whole fleet at once.
type pacedDialer struct {
	mu    sync.Mutex
	last  time.Time
	pause time.Duration
}

func (p *pacedDialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	sleep(ctx, p.nextPause(time.Now()))
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	dialer := net.Dialer{Timeout: 10 * time.Second, KeepAlive: 15 * time.Second, Control: boundUnacknowledged}
	conn, err := dialer.DialContext(ctx, network, address)
	if err == nil {
		p.mu.Lock()
		p.last = time.Now()
		p.mu.Unlock()
	}
	return conn, err
}

func (p *pacedDialer) nextPause(now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.last.IsZero() || now.Sub(p.last) > shortLived+p.pause {
		p.pause = 0
		return 0
	}
	p.pause = min(max(2*p.pause, firstPause), longPause)
	return p.pause/2 + rand.N(p.pause/2) //nolint:gosec // G404: jitter, not a secret
}

func boundUnacknowledged(_, _ string, raw syscall.RawConn) error {
	var setErr error
	err := raw.Control(func(fd uintptr) {
		setErr = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpUserTimeout, int(deadPeer.Milliseconds()))
	})
	if err != nil {
		return err
	}
	return setErr
}
