package jsonrpc

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// ErrTruncated says that the peer closed the connection inside a message.
var ErrTruncated = errors.New("the reply ended before its JSON was complete")

// StreamReply reads one reply whose result is a string and writes that string, unescaped, to sink while it arrives.
// A flow dump of 40,000 flows is about 30 MB of JSON: held whole (raw and decoded) it would cost several times the
// memory that a collector may use. The returned text is the peer's error member, empty when that is null.
// The reader must not be used again after an error.
func StreamReply(r *bufio.Reader, sink io.Writer) (peerError string, err error) {
	s := streamer{r: r}
	if err := s.expect('{'); err != nil {
		return "", err
	}
	for first := true; ; first = false {
		c, err := s.skipSpace()
		if err != nil {
			return "", err
		}
		if c == '}' {
			return peerError, nil
		}
		if !first {
			if c != ',' {
				return "", fmt.Errorf("reply is not JSON: %q where a comma was expected", c)
			}
			if c, err = s.skipSpace(); err != nil {
				return "", err
			}
		}
		if c != '"' {
			return "", fmt.Errorf("reply is not JSON: %q where a member's name was expected", c)
		}
		var name strings.Builder
		if err := s.copyString(LimitWriter(&name, maxText)); err != nil {
			return "", err
		}
		if err := s.expect(':'); err != nil {
			return "", err
		}
		switch name.String() {
		case "result":
			err = s.value(sink)
		case "error":
			var text strings.Builder
			err = s.value(LimitWriter(&text, maxText))
			peerError = strings.TrimSpace(text.String())
		default:
			err = s.value(io.Discard)
		}
		if err != nil {
			return "", err
		}
	}
}

type streamer struct{ r *bufio.Reader }

func (s *streamer) next() (byte, error) {
	c, err := s.r.ReadByte()
	if errors.Is(err, io.EOF) {
		return 0, ErrTruncated
	}
	return c, err
}

func (s *streamer) skipSpace() (byte, error) {
	for {
		c, err := s.next()
		if err != nil || (c != ' ' && c != '\n' && c != '\t' && c != '\r') {
			return c, err
		}
	}
}

func (s *streamer) expect(want byte) error {
	c, err := s.skipSpace()
	if err == nil && c != want {
		err = fmt.Errorf("reply is not JSON: %q where %q was expected", c, want)
	}
	return err
}

// value passes a string on to sink; null gives nothing; any other value is written as the JSON text it is.
func (s *streamer) value(sink io.Writer) error {
	c, err := s.skipSpace()
	if err != nil {
		return err
	}
	if c == '"' {
		return s.copyString(sink)
	}
	raw, err := s.rawValue(c)
	if err != nil || string(raw) == "null" {
		return err
	}
	_, err = sink.Write(raw)
	return err
}

func (s *streamer) rawValue(c byte) ([]byte, error) {
	var raw []byte
	for depth := 0; len(raw) <= maxText; {
		closing := c == '}' || c == ']'
		if depth == 0 && (closing || c == ',') { // it belongs to what the value is in
			return raw, s.r.UnreadByte()
		}
		var err error
		switch c {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case '"':
			if raw, err = s.appendString(raw); err != nil {
				return nil, err
			}
		}
		if c != ' ' && c != '\n' {
			raw = append(raw, c)
		}
		if depth == 0 && closing {
			return raw, nil
		}
		if c, err = s.next(); err != nil {
			return nil, err
		}
	}
	return nil, ErrTooLong
}

// appendString appends a string up to its closing quote.
func (s *streamer) appendString(raw []byte) ([]byte, error) {
	var text bytes.Buffer
	if err := s.copyString(LimitWriter(&text, maxText)); err != nil {
		return nil, err
	}
	return append(append(raw, '"'), text.Bytes()...), nil
}

// copyString unescapes the rest of a string whose opening quote has been read.
func (s *streamer) copyString(sink io.Writer) error {
	for {
		// Peek(1) fills the buffer, so that everything buffered can be looked at without copying.
		if _, err := s.r.Peek(1); err != nil {
			if errors.Is(err, io.EOF) {
				return ErrTruncated
			}
			return err
		}
		chunk, err := s.r.Peek(s.r.Buffered())
		if err != nil {
			return err
		}
		end := indexSpecial(chunk)
		plain := chunk
		if end >= 0 {
			plain = chunk[:end]
		}
		if len(plain) > 0 {
			if _, err := sink.Write(plain); err != nil {
				return err
			}
		}
		if end < 0 {
			if _, err := s.r.Discard(len(chunk)); err != nil {
				return err
			}
			continue
		}
		special := chunk[end]
		if _, err := s.r.Discard(end + 1); err != nil {
			return err
		}
		if special == '"' {
			return nil
		}
		if err := s.copyEscape(sink); err != nil {
			return err
		}
	}
}

// indexSpecial finds the first quote or backslash. In a dump the next one is the `\n` that ends the line, so two fast
// searches beat one slow loop.
func indexSpecial(chunk []byte) int {
	backslash := bytes.IndexByte(chunk, '\\')
	head := chunk
	if backslash >= 0 {
		head = chunk[:backslash]
	}
	if quote := bytes.IndexByte(head, '"'); quote >= 0 {
		return quote
	}
	return backslash
}

var escapes = [256]byte{'n': '\n', 't': '\t', 'r': '\r', 'b': '\b', 'f': '\f', '"': '"', '\\': '\\', '/': '/'}

func (s *streamer) copyEscape(sink io.Writer) error {
	c, err := s.next()
	if err != nil {
		return err
	}
	if c != 'u' {
		plain := escapes[c]
		if plain == 0 {
			return fmt.Errorf("reply is not JSON: unknown escape \\%c", c)
		}
		_, err = sink.Write([]byte{plain})
		return err
	}
	r, err := s.hex4()
	if err != nil {
		return err
	}
	if utf16.IsSurrogate(r) {
		if err := s.expectBytes(`\u`); err != nil {
			return err
		}
		low, err := s.hex4()
		if err != nil {
			return err
		}
		r = utf16.DecodeRune(r, low)
	}
	_, err = sink.Write(utf8.AppendRune(nil, r))
	return err
}

func (s *streamer) expectBytes(want string) error {
	for i := range len(want) {
		c, err := s.next()
		if err != nil {
			return err
		}
		if c != want[i] {
			return fmt.Errorf("reply is not JSON: %q where %q was expected", c, want[i])
		}
	}
	return nil
}

func (s *streamer) hex4() (rune, error) {
	var value rune
	for range 4 {
		c, err := s.next()
		if err != nil {
			return 0, err
		}
		switch {
		case c >= '0' && c <= '9':
			value = value<<4 | rune(c-'0')
		case c >= 'a' && c <= 'f':
			value = value<<4 | rune(c-'a'+10)
		case c >= 'A' && c <= 'F':
			value = value<<4 | rune(c-'A'+10)
		default:
			return 0, fmt.Errorf("reply is not JSON: %q is not a hexadecimal digit", c)
		}
	}
	return value, nil
}
