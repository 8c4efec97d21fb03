package transport

import (
	"fmt"
	"slices"
	"time"
)

// scope is what a CNP limiter counts intervals for (Lumina, section 6.3).
type scope int

const (
	perPort scope = iota
	perDestination
	perQP
)

// profile is what distinguishes a model's transport engine (Lumina, sections 6.1 to 6.3).
type profile struct {
	name  string
	intel bool // names of counters
	// nackGeneration is how long the receiver takes from the packet behind a gap to its NACK; a READ requester repeats its request instead.
	nackGeneration, readGeneration time.Duration
	nackReaction                   time.Duration
	cnpInterval                    time.Duration
	cnpScope                       scope
	nackCNP                        bool            // a NACK comes with a CNP
	migReq                         bool            // the bit in its packets
	adaptive                       []time.Duration // waits of consecutive timeouts with adaptive retransmission; nil: has none
	// readContexts is how many READ connections may recover from a loss at once before the receive pipeline stalls; 0: any number.
	readContexts int
	// migrationContexts is how many new connections without MigReq it looks after at once before the receive pipeline stalls; 0: any number.
	migrationContexts int
	// cnpUncounted and impliedUncounted are counters that stand still although they should not.
	cnpUncounted, impliedUncounted bool
}

// cx6Waits are the waits that the paper measured with timeout 14; the first five are below the specification's minimum.
var cx6Waits = []time.Duration{5600 * time.Microsecond, 4100 * time.Microsecond, 8400 * time.Microsecond, 16700 * time.Microsecond,
	25100 * time.Microsecond, 67100 * time.Microsecond, 134200 * time.Microsecond}

var profiles = []profile{
	{name: "cx4-lx", nackGeneration: 2 * time.Microsecond, readGeneration: 150 * time.Microsecond, nackReaction: 200 * time.Microsecond,
		cnpInterval: 4 * time.Microsecond, cnpScope: perDestination, migReq: true, adaptive: cx6Waits, readContexts: 11, impliedUncounted: true},
	{name: "cx5", nackGeneration: 2 * time.Microsecond, readGeneration: 2 * time.Microsecond, nackReaction: 3 * time.Microsecond,
		cnpInterval: 4 * time.Microsecond, cnpScope: perPort, nackCNP: true, migReq: true, adaptive: cx6Waits, migrationContexts: 15},
	{name: "cx6-dx", nackGeneration: 2 * time.Microsecond, readGeneration: 2 * time.Microsecond, nackReaction: 4 * time.Microsecond,
		cnpInterval: 4 * time.Microsecond, cnpScope: perPort, nackCNP: true, migReq: true, adaptive: cx6Waits},
	{name: "e810", intel: true, nackGeneration: 10 * time.Microsecond, readGeneration: 83 * time.Millisecond, nackReaction: 5 * time.Microsecond,
		cnpInterval: 50 * time.Microsecond, cnpScope: perQP, cnpUncounted: true},
}

// Models lists the models that can be simulated.
func Models() []string {
	names := make([]string, len(profiles))
	for i, p := range profiles {
		names[i] = p.name
	}
	return names
}

// profileOf finds a model; descriptions of tests write them in several ways.
func profileOf(name string) (profile, error) {
	known := map[string]string{"cx4": "cx4-lx", "cx4lx": "cx4-lx", "cx6": "cx6-dx", "cx6dx": "cx6-dx"}
	lower := lowered(name)
	if other, ok := known[lower]; ok {
		lower = other
	}
	i := slices.IndexFunc(profiles, func(p profile) bool { return p.name == lower })
	if i < 0 {
		return profile{}, fmt.Errorf("no transport engine of %q is known; known are %v", name, Models())
	}
	return profiles[i], nil
}

func lowered(name string) string {
	out := []byte(name)
	for i, c := range out {
		switch {
		case 'A' <= c && c <= 'Z':
			out[i] = c + 'a' - 'A'
		case c == ' ' || c == '_':
			out[i] = '-'
		}
	}
	return string(out)
}
