package jsonrpc

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net"
	"strings"
	"testing"
	"unicode/utf8"
)

// Whatever a peer sends, the reader of streamed replies ends; and what the standard library understands, it understands alike.
func FuzzNoReplyStopsTheReader(f *testing.F) {
	f.Add([]byte(`{"id":0,"result":"a\nb\u00e9\ud83d\ude00","error":null}`))
	f.Add([]byte(` { "error" : {"a":["}"]} , "result" : [1, 2] }`))
	f.Add([]byte(`{"result":"cut`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var out bytes.Buffer
		_, err := StreamReply(bufio.NewReaderSize(bytes.NewReader(raw), 16), &out)
		var want struct{ Result *string }
		var members map[string]json.RawMessage
		// Names in another case, or twice, are two things to the standard library and one to RFC 7047; odd text is repaired differently.
		if !utf8.Valid(raw) || json.Unmarshal(raw, &members) != nil || json.Unmarshal(raw, &want) != nil || members["result"] == nil || want.Result == nil ||
			strings.Count(strings.ToLower(string(raw)), "result") != 1 || bytes.Contains(raw, []byte(`\u`)) {
			return
		}
		if err != nil || out.String() != *want.Result {
			t.Errorf("%q: got %q, %v; want %q", raw, out.String(), err, *want.Result)
		}
	})
}

func FuzzNoMessageStopsAConnection(f *testing.F) {
	f.Add([]byte(`{"method":"echo","params":[],"id":"x"}{"id":1,"result":[],"error":null}`))
	f.Fuzz(func(_ *testing.T, raw []byte) {
		ours, theirs := net.Pipe()
		go func() {
			_, _ = io.Copy(theirs, bytes.NewReader(raw))
			_ = theirs.Close()
		}()
		conn := NewConn(ours)
		defer func() { _ = conn.Close() }()
		for {
			m, err := conn.Receive()
			if err != nil {
				return
			}
			_ = m.Failure()
			_ = m.IsRequest() || m.IsNotification()
		}
	})
}
