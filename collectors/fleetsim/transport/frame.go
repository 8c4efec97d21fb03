package transport

import (
	"encoding/binary"
	"hash/crc32"
	"net/netip"
	"time"
)

// Opcodes of the reliable-connected service, and of the congestion notification packet.
const (
	opSendFirst, opSendMiddle, opSendLast, opSendOnly                      = 0, 1, 2, 4
	opWriteFirst, opWriteMiddle, opWriteLast, opWriteOnly                  = 6, 7, 8, 10
	opReadRequest                                                          = 12
	opResponseFirst, opResponseMiddle, opResponseLast, opResponseOnly      = 13, 14, 15, 16
	opAcknowledge                                                          = 17
	opCNP                                                                  = 0x81
	ackSyndrome, nakSequence                                          byte = 0x1F, 0x60
)

const (
	psnMask  = 1<<24 - 1
	roceUDP  = 4791
	trimmed  = 128 // bytes that the dumper keeps
	headerIP = 14
)

// action is what the switch does to a packet; the values are those of its mirrored copies' TTL.
type action byte

const (
	actNone action = iota
	actDrop
	actECN
	actCorrupt
)

// packet is one RoCEv2 packet.
type packet struct {
	from, to   netip.Addr
	sourcePort uint16
	opcode     byte
	migReq     bool
	ackRequest bool
	marked     bool
	qpn, psn   uint32
	syndrome   byte
	length     uint32 // of a RETH
	payload    int
	ipID       uint16
}

func (p *packet) hasAETH() bool {
	return p.opcode == opAcknowledge || p.opcode == opResponseFirst || p.opcode == opResponseLast || p.opcode == opResponseOnly
}

func (p *packet) hasRETH() bool {
	return p.opcode == opReadRequest || p.opcode == opWriteFirst || p.opcode == opWriteOnly
}

// bytes builds the frame as it passes the switch, ICRC included.
func (p *packet) bytes() []byte {
	body := make([]byte, 0, 64+p.payload)
	pad := -p.payload & 3
	flags := byte(pad) << 4
	if p.migReq {
		flags |= 0x40
	}
	body = append(body, p.opcode, flags, 0xFF, 0xFF)
	body = binary.BigEndian.AppendUint32(body, p.qpn)
	if p.opcode == opCNP {
		body[4] = 0x40 // BECN
	}
	ask := uint32(0)
	if p.ackRequest {
		ask = 1 << 31
	}
	body = binary.BigEndian.AppendUint32(body, ask|p.psn)
	if p.hasRETH() {
		body = binary.BigEndian.AppendUint64(body, 0x7F00_0000_0000+uint64(p.psn)*4096)
		body = binary.BigEndian.AppendUint32(body, 0x1234)
		body = binary.BigEndian.AppendUint32(body, p.length)
	}
	if p.hasAETH() {
		body = append(body, p.syndrome, 0, 0, 1)
	}
	if p.opcode == opCNP {
		body = append(body, make([]byte, 16)...)
	}
	body = append(body, make([]byte, p.payload+pad)...)
	return p.wrapped(body)
}

func (p *packet) wrapped(body []byte) []byte {
	udpLength := 8 + len(body) + 4
	frame := make([]byte, headerIP+20+8, headerIP+20+udpLength)
	binary.BigEndian.PutUint16(frame[12:], 0x0800)
	ip := frame[headerIP : headerIP+20]
	ip[0] = 0x45
	ip[1] = 0x02 // ECN-capable
	if p.marked {
		ip[1] = 0x03
	}
	binary.BigEndian.PutUint16(ip[2:], uint16(20+udpLength)) //nolint:gosec // at most 4 KB and headers
	binary.BigEndian.PutUint16(ip[4:], p.ipID)
	binary.BigEndian.PutUint16(ip[6:], 0x4000)
	ip[8], ip[9] = 64, 17
	from, to := p.from.As4(), p.to.As4()
	copy(ip[12:], from[:])
	copy(ip[16:], to[:])
	binary.BigEndian.PutUint16(ip[10:], checksum(ip))
	udp := frame[headerIP+20:]
	binary.BigEndian.PutUint16(udp, p.sourcePort)
	binary.BigEndian.PutUint16(udp[2:], roceUDP)
	binary.BigEndian.PutUint16(udp[4:], uint16(udpLength)) //nolint:gosec // as above
	frame = append(frame, body...)
	return binary.LittleEndian.AppendUint32(frame, invariantCRC(frame[headerIP:]))
}

func checksum(header []byte) uint16 {
	var sum uint32
	for i := 0; i < len(header); i += 2 {
		if i != 10 {
			sum += uint32(binary.BigEndian.Uint16(header[i:]))
		}
	}
	for sum>>16 != 0 {
		sum = sum&0xFFFF + sum>>16
	}
	return ^uint16(sum) //nolint:gosec // folded to 16 bits
}

// invariantCRC is the ICRC of an IPv4 packet that ends before it: fields that routers change count as ones.
func invariantCRC(packet []byte) uint32 {
	masked := append([]byte{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}, packet...)
	ip := masked[8:]
	ip[1], ip[8], ip[10], ip[11] = 0xFF, 0xFF, 0xFF, 0xFF
	ip[26], ip[27] = 0xFF, 0xFF // UDP checksum
	ip[28+4] = 0xFF             // FECN, BECN, reserved
	return crc32.ChecksumIEEE(masked)
}

// mirror collects what the switch mirrors, as a pcap file with nanoseconds.
type mirror struct {
	file   []byte
	frames int
	epoch  time.Time
	// metadata: the copies hold the switch's number, time and event, as Lumina's do.
	metadata bool
}

func newMirror(epoch time.Time, metadata bool) *mirror {
	head := make([]byte, 24)
	binary.LittleEndian.PutUint32(head, 0xA1B23C4D)
	binary.LittleEndian.PutUint16(head[4:], 2)
	binary.LittleEndian.PutUint16(head[6:], 4)
	binary.LittleEndian.PutUint32(head[16:], trimmed)
	binary.LittleEndian.PutUint32(head[20:], 1)
	return &mirror{file: head, epoch: epoch, metadata: metadata}
}

// add mirrors a packet.
func (m *mirror) add(at time.Duration, p *packet, act action) {
	frame := p.bytes()
	m.frames++
	stamp := m.epoch.Add(at)
	if m.metadata {
		var eight [8]byte
		binary.BigEndian.PutUint64(eight[:], uint64(stamp.UnixNano())&(1<<48-1)) //nolint:gosec // after 1970
		copy(frame, eight[2:])
		binary.BigEndian.PutUint64(eight[:], uint64(m.frames)) //nolint:gosec // positive
		copy(frame[6:], eight[2:])
		frame[headerIP+8] = byte(act)
		binary.BigEndian.PutUint16(frame[headerIP+10:], checksum(frame[headerIP:headerIP+20]))
	}
	kept := frame[:min(len(frame), trimmed)]
	record := make([]byte, 16)
	binary.LittleEndian.PutUint32(record, uint32(stamp.Unix()))           //nolint:gosec // until 2106
	binary.LittleEndian.PutUint32(record[4:], uint32(stamp.Nanosecond())) //nolint:gosec // below 10^9
	binary.LittleEndian.PutUint32(record[8:], uint32(len(kept)))          //nolint:gosec // at most 128
	binary.LittleEndian.PutUint32(record[12:], uint32(len(frame)))        //nolint:gosec // at most 4 KB
	m.file = append(append(m.file, record...), kept...)
}
