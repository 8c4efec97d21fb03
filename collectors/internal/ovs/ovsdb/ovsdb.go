// Package ovsdb is a small OVSDB client (RFC 7047): enough to read, change and watch the column
// Open_vSwitch.other_config, in which Open vSwitch keeps its settings. Why it is our own: docs/decisions/0003.
package ovsdb

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"

	"github.com/wallwatch/wallwatch/collectors/internal/ovs/jsonrpc"
)

// ErrClosed is returned by calls on a connection that has ended.
var ErrClosed = errors.New("the connection to the OVSDB server has ended")

// Client is one connection. It is safe for use by several goroutines.
type Client struct {
	conn *jsonrpc.Conn
	done chan struct{}

	mu       sync.Mutex
	nextID   uint64
	pending  map[string]chan *jsonrpc.Message
	watchers map[string]chan json.RawMessage
	failure  error
}

// Dial connects to the server's Unix socket, such as `/var/run/openvswitch/db.sock` (with or without `unix:`).
func Dial(ctx context.Context, path string) (*Client, error) {
	stream, err := jsonrpc.Dial(ctx, path)
	if err != nil {
		return nil, err
	}
	return start(stream), nil
}

func start(stream net.Conn) *Client {
	c := &Client{
		conn:     jsonrpc.NewConn(stream),
		done:     make(chan struct{}),
		pending:  make(map[string]chan *jsonrpc.Message),
		watchers: make(map[string]chan json.RawMessage),
	}
	go c.receive()
	return c
}

// Close ends the connection; waiting calls return ErrClosed and channels of monitors are closed.
func (c *Client) Close() error {
	err := c.conn.Close()
	<-c.done
	return err
}

// Done is closed when the connection has ended, for whatever reason.
func (c *Client) Done() <-chan struct{} { return c.done }

func (c *Client) receive() {
	var failure error
	for {
		m, err := c.conn.Receive()
		if err != nil {
			failure = ErrClosed
			if !errors.Is(err, io.EOF) {
				failure = fmt.Errorf("%w: %w", ErrClosed, err)
			}
			break
		}
		c.dispatch(m)
	}
	_ = c.conn.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failure = failure
	for _, waiter := range c.pending {
		close(waiter)
	}
	for _, watcher := range c.watchers {
		close(watcher)
	}
	c.pending, c.watchers = nil, nil
	close(c.done)
}

func (c *Client) dispatch(m *jsonrpc.Message) {
	switch {
	case m.IsRequest():
		// The server sends `echo` to see whether its client lives, and drops a client that does not answer.
		if m.Method == "echo" {
			_ = c.conn.Send(jsonrpc.Reply(m.ID, m.Params))
		}
	case m.IsNotification():
		if m.Method == "update" {
			c.notify(m.Params)
		}
	default:
		c.mu.Lock()
		waiter := c.pending[string(m.ID)]
		delete(c.pending, string(m.ID))
		c.mu.Unlock()
		if waiter != nil {
			waiter <- m
		}
	}
}

func (c *Client) call(ctx context.Context, method string, params any) (json.RawMessage, error) {
	c.mu.Lock()
	if c.pending == nil {
		c.mu.Unlock()
		return nil, c.failure
	}
	c.nextID++
	request, err := jsonrpc.Request(c.nextID, method, params)
	if err != nil {
		c.mu.Unlock()
		return nil, err
	}
	waiter := make(chan *jsonrpc.Message, 1)
	c.pending[string(request.ID)] = waiter
	c.mu.Unlock()

	if err := c.conn.Send(request); err != nil {
		c.forget(request.ID)
		if errors.Is(err, net.ErrClosed) { // the receiver has closed it just now, and knows why
			<-c.done
			return nil, c.failure
		}
		return nil, err
	}
	select {
	case reply, ok := <-waiter:
		if !ok {
			return nil, c.failure
		}
		if err := reply.Failure(); err != nil {
			return nil, fmt.Errorf("OVSDB %s: %w", method, err)
		}
		return reply.Result, nil
	case <-ctx.Done():
		c.forget(request.ID)
		return nil, fmt.Errorf("waiting for the OVSDB server's answer to %q: %w", method, ctx.Err())
	}
}

func (c *Client) forget(id json.RawMessage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.pending, string(id))
}

// database is the one that ovs-vswitchd reads.
const database = "Open_vSwitch"

// Transact runs operations (RFC 7047, section 5.2) as one transaction on the Open_vSwitch database and returns one
// result for each. It fails when any operation failed, and then nothing was changed.
func (c *Client) Transact(ctx context.Context, operations ...any) ([]json.RawMessage, error) {
	result, err := c.call(ctx, "transact", append([]any{database}, operations...))
	if err != nil {
		return nil, err
	}
	var results []json.RawMessage
	if err := json.Unmarshal(result, &results); err != nil {
		return nil, fmt.Errorf("OVSDB transact: the answer is not a list: %w", err)
	}
	for i, raw := range results {
		var failed struct {
			Error   string `json:"error"`
			Details string `json:"details"`
		}
		if err := json.Unmarshal(raw, &failed); err == nil && failed.Error != "" {
			return nil, fmt.Errorf("OVSDB transact: operation %d failed: %s: %s", i, failed.Error, failed.Details)
		}
	}
	if len(results) < len(operations) {
		return nil, fmt.Errorf("OVSDB transact: %d operations, but only %d results", len(operations), len(results))
	}
	return results, nil
}
