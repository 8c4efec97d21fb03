package ltl

import (
	"encoding/binary"
	"hash/fnv"
)

// Event is something that happened on this host. AtUs is microseconds since 1970, which is the identity of events.
type Event struct {
	Kind   string
	PCI    string
	AtUs   int64
	Fields map[string]any
	UFID   string // of the flow; empty: what Fields says

	key   key // of the flow, once it has been looked up
	known bool
}

// flow is the ufid of the flow, as text; empty: the event is none of a flow.
func (e *Event) flow() string {
	if e.UFID != "" {
		return e.UFID
	}
	text, _ := e.Fields["flow"].(string)
	return text
}

// key stands for a subject of one kind: 128 bits, so that no two are taken for one.
type key [2]uint64

// identity is a subject: its key, and its name unless the key is the name (a ufid, mixed with its RNIC).
type identity struct {
	key  key
	name string
	ufid bool
}

// subjects returns the subject of an event, for each kind of subject; false where it has none.
var subjects = map[string]func(e *Event) (identity, bool){
	"host":    func(*Event) (identity, bool) { return named("host"), true },
	"rnic":    func(e *Event) (identity, bool) { return named(e.PCI), e.PCI != "" },
	"vf":      func(e *Event) (identity, bool) { return ofField("", e.Fields["device"]) },
	"command": func(e *Event) (identity, bool) { return ofField(e.PCI, e.Fields["command"]) },
	"flow": func(e *Event) (identity, bool) {
		text := e.flow()
		if k, ok := parseUFID(text); ok {
			return identity{key: key{k[0] ^ mixed(e.PCI), k[1]}, ufid: true}, true
		}
		return ofField(e.PCI, text)
	},
}

func ofField(first string, field any) (identity, bool) {
	name, isText := field.(string)
	if !isText || name == "" {
		return identity{}, false
	}
	if first != "" {
		name = first + " " + name
	}
	return named(name), true
}

func named(name string) identity {
	h := fnv.New128a()
	h.Write([]byte(name))
	var sum [16]byte
	h.Sum(sum[:0])
	return identity{key: key{binary.BigEndian.Uint64(sum[:8]), binary.BigEndian.Uint64(sum[8:])}, name: name}
}

// mixed is the FNV-1a hash of a text.
func mixed(text string) uint64 {
	hash := uint64(14695981039346656037)
	for i := range len(text) {
		hash = (hash ^ uint64(text[i])) * 1099511628211
	}
	return hash
}
