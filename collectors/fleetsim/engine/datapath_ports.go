package engine

import (
	"fmt"
	"strconv"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine/flowactions"
	"github.com/wallwatch/wallwatch/collectors/fleetsim/flowkey"
)

// The ports of a host's datapath.

// firstRepresentor is the number of the first VF's port.
const firstRepresentor = 3

// Ports are the names of the datapath's ports, in the order of their numbers.
func (h *Host) Ports() []string {
	if h.ports == nil {
		h.ports = []string{"ovs-system", "br-int", TunnelPort}
		for _, r := range h.RNICs {
			for vf := range r.VFs {
				h.ports = append(h.ports, r.Representor(vf))
			}
		}
		h.numbers = make(map[string]int, len(h.ports))
		for number, name := range h.ports {
			h.numbers[name] = number
		}
	}
	return h.ports
}

func (h *Host) portNumbers() map[string]int { h.Ports(); return h.numbers }

func (h *Host) portNumber(name string) int { return h.portNumbers()[name] }

func (h *Host) portName(number int) string {
	if ports := h.Ports(); number < len(ports) {
		return ports[number]
	}
	return fmt.Sprint(number)
}

// ownerOf is the card and the VF behind a port; nil for a port that is no VF's.
func (h *Host) ownerOf(port int) (*RNIC, int) {
	vf := port - firstRepresentor
	for _, r := range h.RNICs {
		if vf >= 0 && vf < len(r.VFs) {
			return r, vf
		}
		vf -= len(r.VFs)
	}
	return nil, 0
}

// inPort is the port that a flow's packets come from.
func inPort(key flowkey.Key) int { return int(key.Value[0] >> 32) }

// cardOf is the card on which a flow belongs: that of the port that its packets come from, or where they go.
func (h *Host) cardOf(key flowkey.Key, actions string) (*RNIC, Direction) {
	if r, _ := h.ownerOf(inPort(key)); r != nil {
		return r, Egress
	}
	if port, err := strconv.Atoi(actions); err == nil {
		if r, _ := h.ownerOf(port); r != nil {
			return r, Ingress
		}
	}
	return h.RNICs[0], Ingress
}

// portsByNumber puts the number of a port in place of its name.
func (h *Host) portsByNumber(actions string) string {
	return flowactions.ReplaceLast(actions, func(port string) (string, bool) {
		number, known := h.portNumbers()[port]
		return strconv.Itoa(number), known
	})
}

// portsByName is the opposite.
func (h *Host) portsByName(actions string) string {
	return flowactions.ReplaceLast(actions, func(port string) (string, bool) {
		number, err := strconv.Atoi(port)
		return h.portName(number), err == nil
	})
}

// mustRead is the canonical form of what this switch prints itself, with names of ports.
func (h *Host) mustRead(printed string) string {
	actions, err := flowactions.Canonical(h.portsByNumber(printed))
	if err != nil {
		panic(fmt.Sprintf("actions of the simulated switch cannot be read: %s", printed)) // a defect of this program
	}
	return actions
}
