package connection

import (
	"context"
	"math/rand/v2"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/wallwatch/wallwatch/collectors/internal/wait"
)

const (
	// A connection that breaks sooner than this counts as a failure: a server that accepts and hangs up must not be dialled in a loop.
	shortLived = 5 * time.Second
	firstPause = 500 * time.Millisecond
	longPause  = 30 * time.Second
	// deadPeer is how long bytes may stay unacknowledged before the kernel closes the connection; its default is 15 minutes.
	deadPeer       = 30 * time.Second
	tcpUserTimeout = 18 // TCP_USER_TIMEOUT in linux/tcp.h
)

// pacedDialer dials TCP so that short-lived connections are retried with growing pauses, and dead peers are detected. The pauses are jittered,
// because the whole fleet dials a restarted server at once.
type pacedDialer struct {
	mu    sync.Mutex
	last  time.Time
	pause time.Duration
}

func (p *pacedDialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	wait.For(ctx, p.nextPause(time.Now()))
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
