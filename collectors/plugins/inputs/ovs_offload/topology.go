package ovs_offload

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/wallwatch/wallwatch/collectors/internal/sysfs"
)

// topology knows which RNIC the ports of Open vSwitch belong to.
type topology struct {
	// generation differs between any two topologies.
	generation uint32
	// representors and uplinks map the name of a network device to the identity of an RNIC, netdevOf the reverse of the
	// uplinks ("" for an RNIC without a network device).
	representors, uplinks, netdevOf map[string]string
	// functions map the name of a representor to the PCI address of its virtual function.
	functions map[string]string
}

// topologyAge is how long a topology is believed while the list of network devices stays the same. A representor that
// was renamed to a name that was in use before is seen after this time.
const topologyAge = time.Minute

// surveyor reads the topology, and again only when network devices came or went: a host has hundreds of them.
type surveyor struct {
	root    sysfs.Root
	names   []string
	at      time.Time
	current *topology
}

func (s *surveyor) survey(now time.Time) (*topology, error) {
	names, err := s.root.Netdevs()
	if err != nil {
		return s.current, err
	}
	if s.current != nil && now.Sub(s.at) < topologyAge && slices.Equal(names, s.names) {
		return s.current, nil
	}
	rnics, err := s.root.RNICs()
	if err != nil {
		return s.current, fmt.Errorf("listing RNICs: %w", err)
	}
	representors, err := s.root.Representors(rnics)
	if err != nil {
		return s.current, fmt.Errorf("listing representors: %w", err)
	}
	next := &topology{representors: make(map[string]string), uplinks: make(map[string]string), netdevOf: make(map[string]string),
		functions: make(map[string]string)}
	functions := make(map[string]map[int]string)
	for _, rnic := range rnics {
		next.netdevOf[rnic.ID] = rnic.Netdev
		if vfs, err := s.root.VFs(rnic.ID); err == nil { // without them flows are reported without their function
			functions[rnic.ID] = vfs
		}
		if rnic.Netdev != "" {
			next.uplinks[rnic.Netdev] = rnic.ID
		}
	}
	for name, representor := range representors {
		next.representors[name] = representor.PFID
		if function := functions[representor.PFID][representor.VF]; function != "" {
			next.functions[name] = function
		}
	}
	s.names, s.at = names, now
	if s.current == nil || !s.current.same(next) {
		if s.current != nil {
			next.generation = s.current.generation + 1
		}
		s.current = next
	}
	return s.current, nil
}

func (t *topology) same(other *topology) bool {
	return maps.Equal(t.representors, other.representors) && maps.Equal(t.uplinks, other.uplinks) &&
		maps.Equal(t.netdevOf, other.netdevOf) && maps.Equal(t.functions, other.functions)
}
