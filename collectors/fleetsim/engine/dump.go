package engine

import (
	"bytes"
	"strconv"
	"time"
)

// WriteFlows writes the host's flows as "dpctl/dump-flows" prints them. Counters are those that software saw last, so late ones stand still.
// Flows whose deletion or insertion waits for the firmware are in no dump: OVS has given up the first and has not got the second.
func (e *Engine) WriteFlows(out *bytes.Buffer, h *Host, verbose bool) {
	e.WriteOffloaded(out, h, verbose)
	e.WriteSoftware(out, h, verbose)
}

// WriteOffloaded writes the flows that are in hardware.
func (e *Engine) WriteOffloaded(out *bytes.Buffer, h *Host, verbose bool) {
	e.View(func(now time.Duration) {
		for _, r := range h.RNICs {
			for _, entry := range r.entries {
				if entry.state == installed {
					entry.write(out, now, verbose)
				}
			}
		}
	})
}

// WriteSoftware writes those that the software datapath has, beside an offloaded one or in its place.
func (e *Engine) WriteSoftware(out *bytes.Buffer, h *Host, verbose bool) {
	e.View(func(now time.Duration) {
		for _, entry := range h.copies {
			entry.writeCopy(out, now, verbose)
		}
	})
}

func (e *Entry) write(out *bytes.Buffer, now time.Duration, verbose bool) {
	e.writeLine(out, e.seenPackets, e.seenBytes, now-e.lastUsed, ", offloaded:yes, dp:tc", verbose)
}

// writeCopy writes the same flow as the software datapath has it.
func (e *Entry) writeCopy(out *bytes.Buffer, now time.Duration, verbose bool) {
	e.writeLine(out, uint64(e.copy.packets), uint64(e.copy.bytes), now-e.copy.lastUsed, ", dp:ovs", verbose)
}

func (e *Entry) writeLine(out *bytes.Buffer, packets, octets uint64, idle time.Duration, layer string, verbose bool) {
	if e.head == nil {
		e.render()
	}
	line := out.AvailableBuffer()
	head := e.head
	if !verbose { // without -m there is no ufid and no layer
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
	if verbose {
		line = append(line, layer...)
	}
	line = append(line, ", actions:"...)
	line = append(line, e.tail...)
	line = append(line, '\n')
	out.Write(line)
}

// SoftwareMasks is the number of different masks that the software datapath has.
func (h *Host) SoftwareMasks() int {
	seen := map[[2]int]bool{}
	for _, r := range h.RNICs {
		for dir, c := range r.chains {
			for _, g := range c.groups {
				if g.entries > 0 {
					seen[[2]int{dir, g.mask}] = true
				}
			}
		}
	}
	return len(seen)
}
