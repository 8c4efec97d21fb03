package jsonrpc

import (
	"errors"
	"io"
)

// ErrTooLong says that a peer sent more than it can mean. What is on the other side of a socket may be broken or another program, and must
// not fill the memory of a host.
var ErrTooLong = errors.New("the peer's text is too long")

const (
	// maxMessage bounds a message that is held whole.
	maxMessage = 16 << 20
	// maxText bounds what a streamed reply holds in addition to its result: an error, a name, an id.
	maxText = 1 << 20
)

// LimitWriter passes on to w until it would be more than limit bytes, and then fails with ErrTooLong.
func LimitWriter(w io.Writer, limit int) io.Writer { return &limitedWriter{w, limit} }

type limitedWriter struct {
	w    io.Writer
	left int
}

func (l *limitedWriter) Write(chunk []byte) (int, error) {
	if l.left -= len(chunk); l.left < 0 {
		return 0, ErrTooLong
	}
	return l.w.Write(chunk)
}

// limitedReader gives at most left bytes, which its owner sets for each message.
type limitedReader struct {
	r    io.Reader
	left int
}

func (l *limitedReader) Read(buffer []byte) (int, error) {
	if l.left <= 0 {
		return 0, ErrTooLong
	}
	n, err := l.r.Read(buffer[:min(len(buffer), l.left)])
	l.left -= n
	return n, err
}
