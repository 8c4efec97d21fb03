// Package vswitch answers on a host's unixctl socket as ovs-vswitchd would: JSON-RPC 1.0, one command a request, the answer a text.
package vswitch

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine"
)

// Version is the Open vSwitch release whose texts are imitated.
const Version = "3.3.0"

// idleTimeout closes connections that nobody uses any more.
const idleTimeout = 10 * time.Minute

// stallPoll is how often a waiting connection looks whether the kernel goes on.
const stallPoll = 100 * time.Millisecond

// Server answers for one host.
type Server struct {
	Engine *engine.Engine
	Host   *engine.Host
	Log    *slog.Logger
	// Now is the virtual time, which goes on between two steps of an engine that keeps pace with a real clock. nil: it stands still there.
	Now func() time.Duration
}

type request struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params []string        `json:"params"`
}

// Serve binds the socket at path and answers until the context ends. A socket that a killed process left is replaced.
func (s *Server) Serve(ctx context.Context, path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("the old socket %s cannot be removed: %w", path, err)
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "unix", path)
	if err != nil {
		return fmt.Errorf("the unixctl socket of %s cannot be bound: %w", s.Host.Name, err)
	}
	stop := context.AfterFunc(ctx, func() { _ = listener.Close() })
	defer stop()
	var connections sync.WaitGroup
	defer connections.Wait()
	for {
		conn, err := listener.Accept()
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return fmt.Errorf("the unixctl socket of %s: %w", s.Host.Name, err)
		}
		connections.Go(func() { s.converse(ctx, conn) })
	}
}

func (s *Server) converse(ctx context.Context, conn net.Conn) {
	defer func() { _ = conn.Close() }()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	decoder := json.NewDecoder(conn)
	out := bufio.NewWriterSize(conn, 1<<16)
	for {
		_ = conn.SetDeadline(time.Now().Add(idleTimeout))
		var r request
		if err := decoder.Decode(&r); err != nil {
			return // end of the connection, or no JSON: ovs-vswitchd hangs up as well
		}
		if !s.awake(ctx) {
			return
		}
		if err := s.reply(out, r); err != nil {
			s.Log.Debug("unixctl client left", "host", s.Host.Name, "error", err)
			return
		}
	}
}

// awake waits while the host's kernel stands still, as every system call of ovs-vswitchd does. It is false when nobody is there to answer.
func (s *Server) awake(ctx context.Context) bool {
	for {
		var down, stalled bool
		s.Engine.View(func(now time.Duration) { down, stalled = s.Host.Down(now), s.Host.Stalled(now) })
		if down || !stalled {
			return !down
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(stallPoll):
		}
	}
}

func (s *Server) reply(out *bufio.Writer, r request) error {
	text, err := s.Answer(r.Method, r.Params)
	id := r.ID
	if len(id) == 0 {
		id = json.RawMessage("null")
	}
	fmt.Fprintf(out, `{"id":%s,`, id)
	if err != nil {
		fmt.Fprintf(out, `"result":null,"error":%s}`, strconv.Quote(err.Error()+"\n"))
		return out.Flush()
	}
	out.WriteString(`"error":null,"result":"`)
	writeEscaped(out, text)
	out.WriteString(`"}`)
	return out.Flush()
}

// writeEscaped writes a text as the inside of a JSON string. The texts of this package hold nothing to escape but line ends
// (and never quotes), which makes large dumps cheap.
func writeEscaped(out *bufio.Writer, text []byte) {
	start := 0
	for i, b := range text {
		if b == '\n' || b == '"' || b == '\\' {
			out.Write(text[start:i])
			start = i + 1
			switch b {
			case '\n':
				out.WriteString(`\n`)
			default:
				out.WriteByte('\\')
				out.WriteByte(b)
			}
		}
	}
	out.Write(text[start:])
}
