package ovstest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// FlowSwitch answers on a control socket as ovs-vswitchd does to the commands on datapath flows. It keeps flows by masks in the order in which
// the masks came, as TC does, and takes flows that overlap.
type FlowSwitch struct {
	// Path of the socket.
	Path string

	mu    sync.Mutex
	show  string
	flows []switchFlow
	// Before is called before each command, without a lock; an error is the command's answer. It may change flows.
	Before func(command string, arguments []string) error
	// Layer says where a flow is, in the words of a dump; nil means that all are in the hardware.
	Layer func(id string) string
}

// Where a flow can be.
const (
	InHardware = "offloaded:yes, dp:tc"
	InSoftware = "dp:ovs"
)

type switchFlow struct{ id, match, actions string }

// StartFlowSwitch makes a switch whose `dpctl/show` has the ports, "3: p1" each.
func StartFlowSwitch(t testing.TB, folder string, ports ...string) *FlowSwitch {
	t.Helper()
	s := &FlowSwitch{Path: filepath.Join(folder, "v.ctl"), show: "system@ovs-system:\n  flows: 0\n"}
	for _, port := range ports {
		s.show += "  port " + port + "\n"
	}
	listener, err := net.Listen("unix", s.Path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go s.serve(conn)
		}
	}()
	return s
}

// AddPort adds a port to `dpctl/show`.
func (s *FlowSwitch) AddPort(port string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.show += "  port " + port + "\n"
}

// Set replaces all flows; each line is "match|actions", the match with its ufid.
func (s *FlowSwitch) Set(lines ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flows = nil
	for _, line := range lines {
		match, actions, _ := strings.Cut(line, "|")
		s.flows = append(s.flows, newSwitchFlow(match, actions))
	}
}

// Flows returns them as Set takes them, in the order of the chain.
func (s *FlowSwitch) Flows() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var lines []string
	for _, flow := range s.flows {
		lines = append(lines, flow.match+"|"+flow.actions)
	}
	return lines
}

func newSwitchFlow(match, actions string) switchFlow {
	id := match
	if rest, ok := strings.CutPrefix(match, "ufid:"); ok {
		id, _, _ = strings.Cut(rest, ",")
	}
	return switchFlow{strings.TrimPrefix(id, "ufid:"), match, actions}
}

func (s *FlowSwitch) serve(conn net.Conn) {
	defer func() { _ = conn.Close() }()
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
		result, err := s.answer(request.Method, request.Params)
		if errors.Is(err, net.ErrClosed) {
			return // as when the daemon dies
		}
		reply := map[string]any{"id": request.ID, "result": result, "error": nil}
		if err != nil {
			reply["result"], reply["error"] = nil, err.Error()+"\n"
		}
		raw, err := json.Marshal(reply)
		if err != nil {
			return
		}
		if _, err := conn.Write(raw); err != nil {
			return
		}
	}
}

func (s *FlowSwitch) answer(command string, arguments []string) (string, error) {
	if s.Before != nil {
		if err := s.Before(command, arguments); err != nil {
			return "", err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch command {
	case "dpctl/show":
		return s.show, nil
	case "dpctl/dump-flows":
		var text strings.Builder
		for _, flow := range s.flows {
			layer := InHardware
			if s.Layer != nil {
				layer = s.Layer(flow.id)
			}
			fmt.Fprintf(&text, "%s, packets:1, bytes:60, used:0.5s, %s, actions:%s\n", strings.Replace(flow.match, ",", ", ", 1), layer, flow.actions)
		}
		return text.String(), nil
	case "dpctl/add-flow":
		flow := newSwitchFlow(arguments[0], arguments[1])
		last := len(s.flows)
		for i, known := range s.flows {
			if known.id == flow.id {
				return "", errors.New("ovs-vswitchd: updating flow table (File exists)")
			}
			if maskWords(known.match) == maskWords(flow.match) {
				last = i + 1
			}
		}
		s.flows = append(s.flows[:last:last], append([]switchFlow{flow}, s.flows[last:]...)...)
		return "", nil
	case "dpctl/del-flow":
		for i, known := range s.flows {
			if known.id == newSwitchFlow(arguments[0], "").id {
				s.flows = append(s.flows[:i:i], s.flows[i+1:]...)
				return "", nil
			}
		}
		return "", errors.New("ovs-vswitchd: deleting flow (No such file or directory)")
	}
	return "", fmt.Errorf("%q is not a valid command", command)
}

// maskWords are the port and the lengths of the prefixes of a match, which is all that distinguishes the masks of these flows: TC has masks
// on each port.
func maskWords(match string) string {
	_, port, _ := strings.Cut(match, "in_port(")
	port, _, _ = strings.Cut(port, ")")
	masks := []string{port}
	for _, word := range strings.FieldsFunc(match, func(r rune) bool { return strings.ContainsRune(",()=", r) }) {
		if _, mask, found := strings.Cut(word, "/"); found {
			masks = append(masks, mask)
		}
	}
	return strings.Join(masks, " ")
}
