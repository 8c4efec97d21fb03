package engine

import (
	"bytes"
	"strconv"
	"time"
)

// WriteFlows writes the host's flows as "dpctl/dump-flows" prints them. Counters are those that software saw last, so late ones stand still.
// Flows whose deletion or insertion waits for the firmware are in no dump: OVS has given up the first and has not got the second.
func (e *Engine) WriteFlows(out *bytes.Buffer, h *Host, verbose bool) {
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

func (e *Entry) write(out *bytes.Buffer, now time.Duration, verbose bool) {
	if e.head == nil {
		e.render()
	}
	line := out.AvailableBuffer()
	head := e.head
	if !verbose { // without -m there is no ufid and no layer
		head = head[bytes.IndexByte(head, ' ')+1:]
	}
	line = append(line, head...)
	line = strconv.AppendUint(line, e.seenPackets, 10)
	line = append(line, ", bytes:"...)
	line = strconv.AppendUint(line, e.seenBytes, 10)
	if e.seenPackets == 0 {
		line = append(line, ", used:never"...)
	} else {
		line = append(line, ", used:"...)
		line = strconv.AppendFloat(line, (now - e.lastUsed).Seconds(), 'f', 3, 64)
		line = append(line, 's')
	}
	if verbose {
		line = append(line, ", offloaded:yes, dp:tc"...)
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
