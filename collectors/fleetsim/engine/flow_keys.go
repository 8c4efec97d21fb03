package engine

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/flowkey"
)

// What an entry matches, as header bits and as a key, and how it is named.

// packet is the header of the packets that an entry of Open vSwitch is for.
func (e *Entry) packet() *flowkey.Words {
	if e.words != nil {
		return e.words
	}
	w, c, h := &flowkey.Words{}, e.conn, e.rnic.Host
	set := func(path string, value uint64) { w.Set(path, value) }
	if e.dir == Egress {
		set("in_port", uint64(h.portNumber(e.rnic.Representor(c.src.VF))))
	} else {
		set("in_port", uint64(h.portNumber(TunnelPort)))
		set("tunnel.tun_id", uint64(c.vni))
		set("tunnel.src", flowkey.IPv4(c.src.vtep()))
		set("tunnel.dst", flowkey.IPv4(e.rnic.VTEP))
		set("tunnel.tp_dst", vxlanPort)
		set("tunnel.ttl", 64)
		set("tunnel.flags", flowkey.KeyFlag)
	}
	set("eth.src", flowkey.MAC(c.src.MAC))
	set("eth.dst", flowkey.MAC(c.dst.MAC))
	set("eth_type", 0x0800)
	set("ipv4.src", flowkey.IPv4(c.src.IP))
	set("ipv4.dst", flowkey.IPv4(c.dst.IP))
	set("ipv4.proto", 17)
	set("ipv4.ttl", 64)
	set("udp.src", uint64(c.sourcePort))
	set("udp.dst", rocePort)
	e.words = w
	return w
}

// ownKey is the key of an entry of Open vSwitch, as it prints it.
func (e *Entry) ownKey() flowkey.Key {
	key, err := e.rnic.Host.readKey(e.keyText())
	if err != nil {
		panic(fmt.Sprintf("a flow of the simulated switch cannot be read: %v", err)) // a defect of this program
	}
	return key
}

func (h *Host) readKey(match string) (flowkey.Key, error) {
	key, err := flowkey.Parse(match, h.portNumbers())
	if err != nil {
		return key, err
	}
	var table flowkey.Words
	table.Set("recirc_id", 1<<32-1) // always counts: a flow without it is one of table 0
	for i := range table {
		key.Mask[i] |= table[i]
	}
	return key, nil
}

// ufidOf names a flow by a hash of its key, as Open vSwitch does.
func ufidOf(text string) string {
	id := sha256.Sum256([]byte(text))
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[0:4], id[4:6], id[6:8], id[8:10], id[10:16])
}

func (e *Entry) ufid() string {
	return strings.TrimSuffix(strings.Fields(string(e.head))[0][len("ufid:"):], ",")
}
