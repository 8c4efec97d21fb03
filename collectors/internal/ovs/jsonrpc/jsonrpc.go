// Package jsonrpc speaks the JSON-RPC 1.0 dialect of Open vSwitch over a stream socket (RFC 7047, section 4).
// Messages follow each other with nothing between them, so a reader has to find the end of each JSON value itself.
package jsonrpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"
)

// Message is one request, reply or notification. A request has Method and ID, a notification has Method and no ID,
// a reply has ID and either Result or Error.
type Message struct {
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  json.RawMessage `json:"error,omitempty"`
	ID     json.RawMessage `json:"id,omitempty"`
}

// IsRequest reports whether the peer wants an answer (`echo` is the only request an OVSDB server sends).
func (m *Message) IsRequest() bool { return m.Method != "" && !isNull(m.ID) }

// IsNotification reports whether the message is a call without an answer.
func (m *Message) IsNotification() bool { return m.Method != "" && isNull(m.ID) }

// Failure returns the peer's error member as an error, or nil.
func (m *Message) Failure() error {
	if isNull(m.Error) {
		return nil
	}
	return fmt.Errorf("peer answered with the error %s", m.Error)
}

func isNull(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

// Request builds a call.
func Request(id uint64, method string, params any) (*Message, error) {
	raw, err := json.Marshal(params)
	if err != nil {
		return nil, fmt.Errorf("encoding the parameters of %q: %w", method, err)
	}
	return &Message{Method: method, Params: raw, ID: json.RawMessage(fmt.Sprint(id))}, nil
}

// Reply builds a successful answer; RFC 7047 wants the member "error" to be present and null.
func Reply(id, result json.RawMessage) *Message {
	return &Message{Result: result, Error: json.RawMessage("null"), ID: id}
}

// Conn is a connection on which whole messages are sent and received. Send may be called by several goroutines at once,
// Receive by one.
type Conn struct {
	stream  net.Conn
	limit   *limitedReader
	decoder *json.Decoder
	writing sync.Mutex
}

// NewConn wraps a connected stream.
func NewConn(stream net.Conn) *Conn {
	limit := &limitedReader{r: stream}
	return &Conn{stream: stream, limit: limit, decoder: json.NewDecoder(limit)}
}

// Dial connects to a Unix socket. The prefix `unix:`, as Open vSwitch writes addresses, is accepted.
func Dial(ctx context.Context, path string) (net.Conn, error) {
	path = strings.TrimPrefix(path, "unix:")
	var dialer net.Dialer
	stream, err := dialer.DialContext(ctx, "unix", path)
	if err != nil {
		return nil, fmt.Errorf("connecting to the socket %q: %w", path, err)
	}
	return stream, nil
}

// Send writes one message.
func (c *Conn) Send(m *Message) error {
	raw, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("encoding a message: %w", err)
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	if err := c.stream.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return fmt.Errorf("setting a write deadline: %w", err)
	}
	if _, err := c.stream.Write(raw); err != nil {
		return fmt.Errorf("sending %q: %w", m.Method, err)
	}
	return nil
}

// writeTimeout bounds a write to a peer that has stopped reading; messages are small, so a healthy peer takes microseconds.
const writeTimeout = 5 * time.Second

// Receive waits for the next message. It returns io.EOF when the peer has closed the connection.
func (c *Conn) Receive() (*Message, error) {
	var m Message
	c.limit.left = maxMessage
	if err := c.decoder.Decode(&m); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) {
			return nil, io.EOF
		}
		return nil, fmt.Errorf("reading a message: %w", err)
	}
	return &m, nil
}

// Close ends the connection; a waiting Receive returns.
func (c *Conn) Close() error { return c.stream.Close() }
