// Package ovstest has what tests need of Open vSwitch: a control socket that answers with given texts in place of ovs-vswitchd, and a real
// ovsdb-server.
package ovstest

import (
	"encoding/json"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Daemon answers on a control socket. Its answers may be changed while it runs.
type Daemon struct {
	// Path of the socket.
	Path string

	mu       sync.Mutex
	answers  map[string]string
	cut      map[string]int
	hanging  map[string]bool
	listener net.Listener
	open     map[net.Conn]bool
}

// Start makes a daemon whose socket is name in folder, which has to be short (a socket's path has at most 107 bytes).
func Start(t testing.TB, folder, name string) *Daemon {
	t.Helper()
	path := filepath.Join(folder, name)
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	d := &Daemon{Path: path, answers: make(map[string]string), cut: make(map[string]int), hanging: make(map[string]bool), listener: listener,
		open: make(map[net.Conn]bool)}
	go d.accept()
	t.Cleanup(d.Stop)
	return d
}

// Answer sets the output of a command (with its arguments, separated by spaces).
func (d *Daemon) Answer(command, output string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.answers[command] = output
	delete(d.cut, command)
	delete(d.hanging, command)
}

// Refuse makes the daemon say that it does not know a command.
func (d *Daemon) Refuse(command string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.answers, command)
}

// CutAfter makes the daemon close the connection after this many bytes of the command's reply.
func (d *Daemon) CutAfter(command string, bytes int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.cut[command] = bytes
}

// Hang makes the daemon never answer a command, as when its main thread is stuck.
func (d *Daemon) Hang(command string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.hanging[command] = true
}

// Connections counts those that are open.
func (d *Daemon) Connections() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.open)
}

// Stop closes the socket and all connections.
func (d *Daemon) Stop() {
	_ = d.listener.Close()
	d.mu.Lock()
	defer d.mu.Unlock()
	for conn := range d.open {
		_ = conn.Close()
	}
}

func (d *Daemon) accept() {
	for {
		conn, err := d.listener.Accept()
		if err != nil {
			return
		}
		d.mu.Lock()
		d.open[conn] = true
		d.mu.Unlock()
		go d.serve(conn)
	}
}

func (d *Daemon) serve(conn net.Conn) {
	defer func() {
		_ = conn.Close()
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.open, conn)
	}()
	decoder := json.NewDecoder(conn)
	for {
		var request struct {
			Method string   `json:"method"`
			Params []string `json:"params"`
			ID     any      `json:"id"`
		}
		if decoder.Decode(&request) != nil {
			return
		}
		command := strings.Join(append([]string{request.Method}, request.Params...), " ")
		d.mu.Lock()
		output, known := d.answers[command]
		cut, isCut := d.cut[command]
		hangs := d.hanging[command]
		d.mu.Unlock()
		if hangs {
			continue
		}
		reply := map[string]any{"id": request.ID, "result": output, "error": nil}
		if !known {
			reply["result"], reply["error"] = nil, "\""+command+"\" is not a valid command"
		}
		raw, err := json.Marshal(reply)
		if err != nil {
			return
		}
		if isCut {
			_, _ = conn.Write(raw[:min(cut, len(raw))])
			return
		}
		if _, err := conn.Write(raw); err != nil {
			return
		}
	}
}
