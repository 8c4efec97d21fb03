// Package unixctl calls commands of an Open vSwitch daemon over its control socket, as `ovs-appctl` does.
package unixctl

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/wallwatch/wallwatch/collectors/internal/ovs/jsonrpc"
)

// CommandError is the daemon's own refusal of a command; the connection stays usable.
type CommandError struct {
	Command string
	Text    string
}

func (e *CommandError) Error() string {
	return fmt.Sprintf("the daemon refused %q: %s", e.Command, e.Text)
}

// ErrNotListening says that there is no daemon: no socket, or only those that dead daemons left. Any other failure to connect says
// nothing about whether it runs.
var ErrNotListening = errors.New("no daemon listens")

// Client is one connection to a daemon. It is not safe for use by several goroutines: the daemon answers in order.
type Client struct {
	stream net.Conn
	reader *bufio.Reader
	path   string
	nextID uint64
}

// replyBuffer is large enough that a dump arrives in few system calls.
const replyBuffer = 64 << 10

// Dial connects to the control socket at path. A path with `*`, `?` or `[` is a pattern, because the name carries the
// daemon's process id (`/var/run/openvswitch/ovs-vswitchd.*.ctl`): the newest socket that accepts a connection is taken,
// for a daemon that was killed leaves its socket behind.
func Dial(ctx context.Context, path string) (*Client, error) {
	candidates, err := resolve(strings.TrimPrefix(path, "unix:"))
	if err != nil {
		return nil, err
	}
	var failures []error
	for _, candidate := range candidates {
		stream, err := jsonrpc.Dial(ctx, candidate)
		if err != nil {
			failures = append(failures, err)
			continue
		}
		return &Client{stream: stream, reader: bufio.NewReaderSize(stream, replyBuffer), path: candidate}, nil
	}
	if !slices.ContainsFunc(failures, mayListen) {
		failures = append(failures, ErrNotListening)
	}
	return nil, errors.Join(failures...)
}

func mayListen(failure error) bool {
	return !errors.Is(failure, syscall.ECONNREFUSED) && !errors.Is(failure, fs.ErrNotExist)
}

func resolve(path string) ([]string, error) {
	if !strings.ContainsAny(path, "*?[") {
		return []string{path}, nil
	}
	matches, err := filepath.Glob(path)
	if err != nil {
		return nil, fmt.Errorf("the socket pattern %q is malformed: %w", path, err)
	}
	if len(matches) == 0 {
		return nil, fmt.Errorf("%w: no socket matches %q: is ovs-vswitchd running, and may this user read its folder?", ErrNotListening, path)
	}
	changed := make(map[string]time.Time, len(matches))
	for _, match := range matches {
		if info, err := os.Stat(match); err == nil {
			changed[match] = info.ModTime()
		}
	}
	sort.SliceStable(matches, func(i, j int) bool { return changed[matches[i]].After(changed[matches[j]]) })
	return matches, nil
}

// Path is the socket that is connected.
func (c *Client) Path() string { return c.path }

// PeerPID is the process id of the daemon, 0 where the system does not say. A daemon that restarts may make its socket under
// the same name again.
func (c *Client) PeerPID() int {
	stream, ok := c.stream.(*net.UnixConn)
	if !ok {
		return 0
	}
	raw, err := stream.SyscallConn()
	if err != nil {
		return 0
	}
	pid := 0
	err = raw.Control(func(descriptor uintptr) {
		if peer, err := unix.GetsockoptUcred(int(descriptor), unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil {
			pid = int(peer.Pid)
		}
	})
	if err != nil {
		return 0
	}
	return pid
}

// Close ends the connection.
func (c *Client) Close() error { return c.stream.Close() }

// maxOutput is far more than a command about ports and settings prints.
const maxOutput = 16 << 20

// Call runs a command and returns its whole output. Use Stream for output that may be large.
func (c *Client) Call(ctx context.Context, command string, args ...string) (string, error) {
	var output strings.Builder
	if err := c.Stream(ctx, jsonrpc.LimitWriter(&output, maxOutput), command, args...); err != nil {
		return "", err
	}
	return output.String(), nil
}

// Stream runs a command and writes its output to sink while it arrives. After a CommandError the connection can be used
// again; after any other error it has to be closed, because the rest of the reply may still be on its way.
func (c *Client) Stream(ctx context.Context, sink io.Writer, command string, args ...string) error {
	stop := context.AfterFunc(ctx, func() {
		// A deadline in the past wakes a blocked read or write at once.
		_ = c.stream.SetDeadline(time.Unix(1, 0))
	})
	defer func() {
		if stop() {
			_ = c.stream.SetDeadline(time.Time{})
		}
	}()

	if args == nil {
		args = []string{}
	}
	request, err := jsonrpc.Request(c.nextID, command, args)
	if err != nil {
		return err
	}
	c.nextID++
	if err := jsonrpc.NewConn(c.stream).Send(request); err != nil {
		return c.explain(ctx, command, err)
	}
	refusal, err := jsonrpc.StreamReply(c.reader, sink)
	if err != nil {
		return c.explain(ctx, command, err)
	}
	if refusal != "" {
		return &CommandError{Command: command, Text: refusal}
	}
	return nil
}

func (c *Client) explain(ctx context.Context, command string, err error) error {
	if cause := ctx.Err(); cause != nil {
		err = cause
	}
	return fmt.Errorf("calling %q on %q: %w", command, c.path, err)
}
