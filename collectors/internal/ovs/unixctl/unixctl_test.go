package unixctl_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wallwatch/wallwatch/collectors/internal/ovs/jsonrpc"
	"github.com/wallwatch/wallwatch/collectors/internal/ovs/ovstest"
	"github.com/wallwatch/wallwatch/collectors/internal/ovs/unixctl"
)

func folder(t *testing.T) string {
	t.Helper()
	path, err := os.MkdirTemp("", "ctl")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(path) })
	return path
}

func dial(t *testing.T, path string) *unixctl.Client {
	t.Helper()
	client, err := unixctl.Dial(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func TestACommandReturnsTheDaemonsText(t *testing.T) {
	daemon := ovstest.Start(t, folder(t), "d.ctl")
	text := "line one\n\ttab \"quoted\" back\\slash é 😀 \x01 end\n" + strings.Repeat("0123456789", 20000)
	daemon.Answer("dpctl/show", text)
	daemon.Answer("dpctl/dump-flows -m --names", "two")
	client := dial(t, daemon.Path)
	got, err := client.Call(context.Background(), "dpctl/show")
	if err != nil {
		t.Fatal(err)
	}
	if got != text {
		t.Errorf("%d bytes came back changed, want %d", len(got), len(text))
	}
	if got, err := client.Call(context.Background(), "dpctl/dump-flows", "-m", "--names"); err != nil || got != "two" {
		t.Errorf("a second command on the connection: %q, %v", got, err)
	}
}

func TestARefusedCommandLeavesTheConnectionUsable(t *testing.T) {
	daemon := ovstest.Start(t, folder(t), "d.ctl")
	daemon.Answer("version", "3.1")
	client := dial(t, daemon.Path)
	var refused *unixctl.CommandError
	if _, err := client.Call(context.Background(), "nonsense"); !errors.As(err, &refused) || !strings.Contains(refused.Text, "not a valid command") {
		t.Fatalf("got %v", err)
	}
	if got, err := client.Call(context.Background(), "version"); err != nil || got != "3.1" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestAReplyThatIsCutOffIsAnError(t *testing.T) {
	daemon := ovstest.Start(t, folder(t), "d.ctl")
	daemon.Answer("dpctl/show", "a long text that will be cut")
	daemon.CutAfter("dpctl/show", 30)
	if _, err := dial(t, daemon.Path).Call(context.Background(), "dpctl/show"); !errors.Is(err, jsonrpc.ErrTruncated) {
		t.Errorf("got %v", err)
	}
}

func TestASilentDaemonIsGivenUpAfterTheDeadline(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if _, err := dial(t, ovstest.Broken(t, "", "")).Call(ctx, "dpctl/show"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestAnEndlessReplyIsGivenUpBeforeItFillsTheMemory(t *testing.T) {
	for name, beginning := range map[string]string{
		"a result": `{"id":0,"error":null,"result":"`, "an error": `{"id":0,"result":null,"error":"`, "a name": `{"`, "a list": `{"id":["`, "a number": `{"id":`,
	} {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		if _, err := dial(t, ovstest.Broken(t, beginning, "a")).Call(ctx, "dpctl/show"); !errors.Is(err, jsonrpc.ErrTooLong) {
			t.Errorf("%s: got %v", name, err)
		}
		cancel()
	}
}

func TestGarbageIsAnErrorAtOnce(t *testing.T) {
	for _, garbage := range []string{"aaaa", "\x00\x01\x02", "[]", `{"result":"\q`, `{"result":"\ud800x`, `{"result" "x"}`} {
		if _, err := dial(t, ovstest.Broken(t, garbage, "a")).Call(context.Background(), "dpctl/show"); err == nil {
			t.Errorf("%q was understood", garbage)
		}
	}
}

func TestADaemonThatIsGoneIsDistinguishedFromOneThatDoesNotTakeTheCall(t *testing.T) {
	where := folder(t)
	dead := filepath.Join(where, "ovs-vswitchd.1.ctl")
	if err := os.WriteFile(dead, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dead, filepath.Join(where, "nothing.ctl"), filepath.Join(where, "*.ctl"), filepath.Join(where, "none.*.ctl")} {
		if _, err := unixctl.Dial(context.Background(), path); !errors.Is(err, unixctl.ErrNotListening) {
			t.Errorf("%s: got %v", path, err)
		}
	}
	ovstest.Start(t, where, "ovs-vswitchd.2.ctl")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := unixctl.Dial(ctx, filepath.Join(where, "*.ctl")); err == nil || errors.Is(err, unixctl.ErrNotListening) {
		t.Errorf("no time to connect: got %v", err)
	}
}

func TestADaemonThatStopsInTheMiddleOfAReplyIsGivenUp(t *testing.T) {
	path := filepath.Join(folder(t), "d.ctl")
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	over := make(chan struct{})
	defer close(over)
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		// Byte by byte, as a busy daemon may, and then no more. The connection stays open to the end: one that nothing refers to is
		// closed whenever the garbage collector runs.
		for _, c := range []byte(`{"id":0,"error":null,"result":"first line\nhalf a`) {
			_, _ = conn.Write([]byte{c})
		}
		<-over
		_ = conn.Close()
	}()
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	var got strings.Builder
	err = dial(t, path).Stream(ctx, &got, "dpctl/dump-flows")
	if !errors.Is(err, context.DeadlineExceeded) || !strings.HasPrefix("first line\nhalf a", got.String()) {
		t.Errorf("got %q, %v", got.String(), err)
	}
}

func TestTheDaemonsProcessIsKnown(t *testing.T) {
	daemon := ovstest.Start(t, folder(t), "d.ctl")
	if got := dial(t, daemon.Path).PeerPID(); got != os.Getpid() {
		t.Errorf("process %d, want this one, %d", got, os.Getpid())
	}
}

func TestAPatternFindsTheSocketThatAnswers(t *testing.T) {
	where := folder(t)
	// The socket of a daemon that was killed: a file on which nobody listens, and newer than the other.
	living := ovstest.Start(t, where, "ovs-vswitchd.12.ctl")
	living.Answer("version", "3.1")
	if err := os.WriteFile(filepath.Join(where, "ovs-vswitchd.99.ctl"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	client := dial(t, filepath.Join(where, "ovs-vswitchd.*.ctl"))
	if client.Path() != living.Path {
		t.Errorf("connected to %q", client.Path())
	}
	if _, err := unixctl.Dial(context.Background(), filepath.Join(where, "nothing.*.ctl")); err == nil || !strings.Contains(err.Error(), "no socket matches") {
		t.Errorf("got %v", err)
	}
}

func TestAReplyWithMembersInAnyOrderIsUnderstood(t *testing.T) {
	for text, want := range map[string]string{
		`{"error":null,"id":0,"result":"ok"}`:                               "ok",
		` { "id" : [1,{"a":"}"}] , "result" : "ok" , "error" : null } `:     "ok",
		`{"result":"\u0041\ud83d\ude00\/\b","other":{"x":[1,"],"]},"id":1}`: "A😀/\b",
		`{}`:              "",
		`{"result":null}`: "",
	} {
		var out strings.Builder
		if _, err := jsonrpc.StreamReply(bufio.NewReaderSize(strings.NewReader(text), 16), &out); err != nil || out.String() != want {
			t.Errorf("%s: %q, %v", text, out.String(), err)
		}
	}
}

func FuzzStreamedRepliesAgreeWithTheStandardLibrary(f *testing.F) {
	f.Add("plain", "")
	f.Add("line\nquote\"back\\slash\u2028", "an error")
	f.Fuzz(func(t *testing.T, result, failure string) {
		raw, err := json.Marshal(map[string]any{"id": 1, "result": result, "error": failure})
		if err != nil {
			t.Skip()
		}
		var want struct{ Result, Error string }
		if json.Unmarshal(raw, &want) != nil {
			t.Skip()
		}
		var out strings.Builder
		got, err := jsonrpc.StreamReply(bufio.NewReaderSize(strings.NewReader(string(raw)), 16), &out)
		if err != nil || out.String() != want.Result || got != strings.TrimSpace(want.Error) {
			t.Errorf("%s: %q, %q, %v", raw, out.String(), got, err)
		}
	})
}
