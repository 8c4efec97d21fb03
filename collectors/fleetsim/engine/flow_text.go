package engine

import (
	"fmt"
	"net/netip"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/scenario"
)

// matchMask says which bits of the inner header a megaflow matches. Hosts have many lengths of IPv4 prefixes in their
// forwarding rules (paper, section 4.3), and each combination becomes a mask of its own in the RNIC.
// Port, Ethernet addresses and the RoCE source port, which distinguishes queue pairs, are matched in full by all of them.
type matchMask struct{ srcBits, dstBits, tosBits int }

// commonMasks are those of a host without special tenants.
var commonMasks = []matchMask{{0, 32, 0}, {32, 32, 0}, {0, 0, 0}, {0, 32, 6}, {32, 0, 0}, {32, 32, 6}}

// tenantMask is the i-th of the prefix combinations that tenants with own subnets bring along.
func tenantMask(i int) matchMask { return matchMask{32 - i%20, 31 - (i/20)%20, 0} }

func maskOf(id int) matchMask {
	if id < len(commonMasks) {
		return commonMasks[id]
	}
	return tenantMask((id - len(commonMasks)) % scenario.MaxMasks)
}

const (
	wildcardHead = "skb_mark(0/0),ct_state(0/0),ct_zone(0/0),ct_mark(0/0),ct_label(0/0),recirc_id(0),dp_hash(0/0)"
	rocePort     = 4791
	vxlanPort    = 4789
	// TunnelPort is the datapath port through which all VXLAN traffic goes.
	TunnelPort = "vxlan_sys_4789"
)

// keyText is the flow key as "dpctl/dump-flows -m --names" prints it: every field with its mask, full masks left out.
func (e *Entry) keyText() string {
	m, c := maskOf(e.mask), e.conn
	inner := fmt.Sprintf("packet_type(ns=0/0,id=0/0),eth(src=%s,dst=%s),eth_type(0x0800),ipv4(src=%s,dst=%s,proto=17,tos=%s,ttl=0/0,frag=no),udp(src=%d,dst=%d)",
		c.src.MAC, c.dst.MAC, prefixText(c.src.IP, m.srcBits), prefixText(c.dst.IP, m.dstBits), tosText(m.tosBits), c.sourcePort, rocePort)
	if e.dir == Egress {
		return fmt.Sprintf("skb_priority(0/0),%s,in_port(%s),%s", wildcardHead, e.rnic.Representor(c.src.VF), inner)
	}
	return fmt.Sprintf("skb_priority(0/0),tunnel(tun_id=%#x,src=%s,dst=%s,ttl=0/0,tp_dst=%d,flags(+key)),%s,in_port(%s),%s",
		c.vni, c.src.vtep(), e.rnic.VTEP, vxlanPort, wildcardHead, TunnelPort, inner)
}

func (e *Entry) actionText() string {
	if e.dir == Egress {
		return fmt.Sprintf("set(tunnel(tun_id=%#x,src=%s,dst=%s,ttl=64,tp_dst=%d,flags(key))),%s", e.conn.vni, e.rnic.VTEP, e.conn.dst.vtep(), vxlanPort, TunnelPort)
	}
	return e.rnic.Representor(e.conn.dst.VF)
}

// render makes the two constant parts of the flow's dump line. The ufid is a hash of the key, as in OVS, so a flow that
// is offloaded again has the same one.
func (e *Entry) render() {
	h := e.rnic.Host
	key, actions, ufid := "", "", ""
	if e.manual != nil {
		key, actions, ufid = e.manual.key.Text(h.portName), h.portsByName(e.manual.actions), e.manual.ufid
	} else {
		key, actions = e.keyText(), e.actionText()
		ufid = ufidOf(h.Name + key)
	}
	e.head = fmt.Appendf(nil, "ufid:%s, %s, packets:", ufid, key)
	e.tail = []byte(actions)
	if h.byUFID == nil {
		h.byUFID = map[string]*Entry{}
	}
	h.byUFID[ufid] = e
}

func prefixText(ip netip.Addr, bits int) string {
	if bits == 32 {
		return ip.String()
	}
	mask := ^uint32(0) << (32 - bits) // a shift by 32 gives 0 in Go
	return fmt.Sprintf("%s/%d.%d.%d.%d", netip.PrefixFrom(ip, bits).Masked().Addr(), byte(mask>>24), byte(mask>>16), byte(mask>>8), byte(mask))
}

func tosText(bits int) string {
	if bits == 0 {
		return "0/0"
	}
	return "0/0xfc" // the DSCP
}
