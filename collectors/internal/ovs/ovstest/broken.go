package ovstest

import (
	"bytes"
	"net"
	"os"
	"path/filepath"
	"testing"
)

// Broken listens on a socket and answers every connection with a beginning and then the filler for ever, whatever it is asked. Without a filler
// it falls silent and keeps the connection. It returns the socket's path.
func Broken(t testing.TB, beginning, filler string) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "ovs")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	path := filepath.Join(folder, "socket")
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() {
		close(done)
		_ = listener.Close()
	})
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go babble(conn, beginning, filler, done)
		}
	}()
	return path
}

func babble(conn net.Conn, beginning, filler string, done <-chan struct{}) {
	defer func() { _ = conn.Close() }()
	_, err := conn.Write([]byte(beginning))
	if filler == "" {
		<-done
		return
	}
	for chunk := bytes.Repeat([]byte(filler), 1<<16); err == nil; {
		_, err = conn.Write(chunk)
	}
}
