package engine

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"time"
)

// Show is how a dump is printed.
type Show struct {
	Verbose bool // with ufid and layer, as with -m
	Numbers bool // ports by their numbers, as with --no-names
	// Now is when the dump is printed, in virtual time: what it says of idle times goes on between two steps, as a real switch's does. 0, or
	// a time before the last step, means the time of the last step.
	Now time.Duration
}

// WriteOffloaded writes the flows that are in hardware as "dpctl/dump-flows" prints them. Counters are those that software saw last, so late
// ones stand still. Flows whose deletion or insertion waits for the firmware are in no dump: OVS has given up the first and has not got the second.
func (e *Engine) WriteOffloaded(out *bytes.Buffer, h *Host, show Show) {
	e.View(func(now time.Duration) {
		for _, r := range h.RNICs {
			for _, entry := range r.inOrder() {
				if entry.state == installed {
					entry.write(out, max(now, show.Now), show)
				}
			}
		}
	})
}

// inOrder are the card's entries as a dump prints them: TC lists its filters by priority, which is the order of their masks.
func (r *RNIC) inOrder() []*Entry {
	sorted := slices.Clone(r.entries)
	slices.SortStableFunc(sorted, func(a, b *Entry) int {
		return cmp.Or(cmp.Compare(a.dir, b.dir), cmp.Compare(a.group.Position, b.group.Position))
	})
	return sorted
}

// WriteSoftware writes those that the software datapath has, next to an offloaded one or in its place.
func (e *Engine) WriteSoftware(out *bytes.Buffer, h *Host, show Show) {
	e.View(func(now time.Duration) {
		for _, entry := range h.copies {
			entry.writeCopy(out, max(now, show.Now), show)
		}
	})
}

func (e *Entry) write(out *bytes.Buffer, now time.Duration, show Show) {
	e.writeLine(out, e.seenPackets, e.seenBytes, now-e.lastUsed, ", offloaded:yes, dp:tc", show)
}

// writeCopy writes the same flow as the software datapath has it.
func (e *Entry) writeCopy(out *bytes.Buffer, now time.Duration, show Show) {
	e.writeLine(out, uint64(e.copy.packets), uint64(e.copy.bytes), now-e.copy.lastUsed, ", dp:ovs", show)
}

func (e *Entry) writeLine(out *bytes.Buffer, packets, octets uint64, idle time.Duration, layer string, show Show) {
	if e.head == nil {
		e.render()
	}
	line := out.AvailableBuffer()
	head, tail := e.head, e.tail
	if show.Numbers {
		head, tail = e.numberedPorts()
	}
	if !show.Verbose { // without -m there is no ufid and no layer
		head = head[bytes.IndexByte(head, ' ')+1:]
	}
	line = append(line, head...)
	line = strconv.AppendUint(line, packets, 10)
	line = append(line, ", bytes:"...)
	line = strconv.AppendUint(line, octets, 10)
	if packets == 0 {
		line = append(line, ", used:never"...)
	} else {
		line = append(line, ", used:"...)
		line = strconv.AppendFloat(line, idle.Seconds(), 'f', 3, 64)
		line = append(line, 's')
	}
	if show.Verbose {
		line = append(line, layer...)
	}
	line = append(line, ", actions:"...)
	line = append(line, tail...)
	line = append(line, '\n')
	out.Write(line)
}

// numberedPorts are the constant parts of the line with the numbers of ports.
func (e *Entry) numberedPorts() (head, tail []byte) {
	h := e.rnic.Host
	port := TunnelPort
	if e.dir == Egress || e.manual != nil {
		port = h.portName(h.portOf(e))
	}
	head = bytes.Replace(e.head, []byte("in_port("+port+")"), []byte("in_port("+strconv.Itoa(h.portNumber(port))+")"), 1)
	return head, []byte(h.portsByNumber(string(e.tail)))
}

// portOf is the port that the packets of an egress entry come from.
func (h *Host) portOf(e *Entry) int {
	if e.manual != nil {
		return inPort(e.manual.key)
	}
	return h.portNumber(e.rnic.Representor(e.conn.src.VF))
}

// SoftwareMasks is the number of different masks that the software datapath has.
func (h *Host) SoftwareMasks() int {
	seen := map[[2]int]bool{}
	for _, r := range h.RNICs {
		for dir, c := range r.chains {
			for _, g := range c.Groups() {
				if g.Entries > 0 {
					seen[[2]int{dir, g.Mask}] = true
				}
			}
		}
	}
	return len(seen)
}
