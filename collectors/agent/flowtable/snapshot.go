package flowtable

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"

	"github.com/wallwatch/wallwatch/collectors/internal/ovs/dpctl"
)

// Flow is one datapath flow in the words of the dump, so that it can be compared with what a plan was made of and added again unchanged.
type Flow struct {
	// ID is the ufid as it was printed, or the match where none was.
	ID string
	// Match is what `dpctl/add-flow` takes: the ufid, where there is one, and the match.
	Match   string
	Actions string
	// Mask is the canonical mask; flows with the same one share a group of the eSwitch.
	Mask string
	// InPort is the number of the port that its packets come from, Hardware whether they are forwarded there.
	InPort   string
	Hardware bool
	// Packets is what was counted since the flow was installed.
	Packets uint64
}

// Key is what `dpctl/del-flow` takes.
func (f Flow) Key() string {
	if f.ID != f.Match {
		return "ufid:" + f.ID
	}
	return f.Match
}

// Digest reports whether a flow still matches and does the same, without the whole text: 64 bits of SHA-256 of `match|actions`.
func (f Flow) Digest() string {
	return digest(strings.TrimPrefix(f.Match, "ufid:"+f.ID+","), f.Actions)
}

func digest(match, actions string) string {
	sum := sha256.Sum256([]byte(match + "|" + actions))
	return hex.EncodeToString(sum[:8])
}

// Snapshot is the flows of one RNIC at one time, in the order of the dump.
type Snapshot struct {
	// Text has their lines, and those that could not be read, whosever they are.
	Text  []byte
	Flows []Flow
	ByID  map[string]int
	// Unreadable counts lines that should be flows.
	Unreadable int
}

var ufidPrefix = []byte("ufid:")

// Select reads a dump and keeps the flows that come from one of the ports, or came out of a tunnel and go to one. Threads of the userspace
// datapath print a flow each; it is kept once.
func Select(dump []byte, ports map[string]string) Snapshot {
	snapshot := Snapshot{ByID: map[string]int{}}
	var flow dpctl.Flow
	var parser dpctl.MatchParser
	var match dpctl.Match
	for line := range bytes.Lines(dump) {
		line = bytes.TrimSpace(line)
		err := dpctl.ParseLine(line, &flow)
		if errors.Is(err, dpctl.ErrNotAFlow) {
			continue
		}
		if err == nil {
			err = parser.Parse(flow.Match, &match)
		}
		if err != nil {
			snapshot.Unreadable++
			snapshot.keep(line)
			continue
		}
		if _, own := ports[string(match.InPort)]; !own && (!match.Tunnel || !goesTo(flow.Actions, ports)) {
			continue
		}
		one := Flow{
			Match: string(flow.Match), Actions: string(bytes.TrimSpace(flow.Actions)), Mask: string(match.Mask),
			InPort: string(match.InPort), Hardware: flow.Offload == dpctl.Offloaded, Packets: flow.Packets,
		}
		one.ID = one.Match
		if ufid, ok := bytes.CutPrefix(line, ufidPrefix); ok {
			one.ID = string(ufid[:bytes.IndexByte(ufid, ',')])
			one.Match = "ufid:" + one.ID + "," + one.Match
		}
		if _, twice := snapshot.ByID[one.ID]; !twice {
			snapshot.ByID[one.ID] = len(snapshot.Flows)
			snapshot.Flows = append(snapshot.Flows, one)
		}
		snapshot.keep(line)
	}
	return snapshot
}

func (s *Snapshot) keep(line []byte) {
	s.Text = append(append(s.Text, line...), '\n')
}

// Find returns the flow with that identity.
func (s *Snapshot) Find(id string) (Flow, bool) {
	at, found := s.ByID[id]
	if !found {
		return Flow{}, false
	}
	return s.Flows[at], true
}

// Masks returns the masks in the order in which the dump shows them first.
func (s *Snapshot) Masks() []string {
	var masks []string
	seen := map[string]bool{}
	for _, flow := range s.Flows {
		if !seen[flow.Mask] {
			seen[flow.Mask] = true
			masks = append(masks, flow.Mask)
		}
	}
	return masks
}

// notOutputs are actions whose bracket holds numbers that are not ports.
var notOutputs = map[string]bool{"meter": true, "trunc": true, "recirc": true, "hash": true, "l4": true, "pop_mpls": true}

// goesTo finds an output among actions: a word by itself that is one of the ports.
func goesTo(actions []byte, ports map[string]string) bool {
	text := string(actions)
	start, inside := 0, ""
	for i := 0; i <= len(text); i++ {
		if i < len(text) && !strings.ContainsRune(",()", rune(text[i])) {
			continue
		}
		word := strings.Trim(strings.TrimSpace(text[start:i]), `"`)
		start = i + 1
		if i < len(text) && text[i] == '(' {
			inside = word
			continue
		}
		if _, own := ports[word]; own && !notOutputs[inside] {
			return true
		}
		if i < len(text) && text[i] == ')' {
			inside = ""
		}
	}
	return false
}

// MaskOf returns the canonical mask of a match as `dpctl/add-flow` takes it.
func MaskOf(match string) (string, error) {
	if strings.HasPrefix(match, "ufid:") {
		_, match, _ = strings.Cut(match, ",")
	}
	var parser dpctl.MatchParser
	var found dpctl.Match
	if err := parser.Parse([]byte(match), &found); err != nil {
		return "", err
	}
	return string(found.Mask), nil
}
