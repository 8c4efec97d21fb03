package vswitch

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine"
)

// show prints "dpctl/show". The lookups are those of the software datapath; packets that the RNIC forwards are not in them.
func (s *Server) show(out *bytes.Buffer, args []string) {
	statistics := slices.Contains(args, "-s") || slices.Contains(args, "--statistics")
	s.Engine.View(func(time.Duration) {
		sw := &s.Host.Switch
		fmt.Fprintf(out, "%s:\n  lookups: hit:%d missed:%d lost:%d\n  flows: %d\n", datapath, sw.Hits, uint64(sw.Missed), uint64(sw.Lost), s.Host.Flows())
		lookups := max(1, float64(sw.Hits)+sw.Missed)
		fmt.Fprintf(out, "  masks: hit:%d total:%d hit/pkt:%.2f\n", uint64(sw.MaskLookups), s.Host.SoftwareMasks(), sw.MaskLookups/lookups)
		number := 0
		port := func(name, kind string) bool {
			fmt.Fprintf(out, "  port %d: %s", number, name)
			number++
			if kind != "" {
				fmt.Fprintf(out, " (%s)", kind)
			}
			out.WriteByte('\n')
			return statistics
		}
		for _, internal := range s.Host.Ports()[:2] {
			if port(internal, "internal") {
				portStatistics(out, 0, 0, 0, 0)
			}
		}
		if port(engine.TunnelPort, "vxlan: packet_type=ptap") {
			out.WriteString("    RX packets:0 errors:? dropped:? overruns:? frame:?\n    TX packets:0 errors:? dropped:? aborted:? carrier:?\n" +
				"    collisions:?\n    RX bytes:0  TX bytes:0\n")
		}
		for _, r := range s.Host.RNICs {
			for vf, c := range r.VFCounters {
				if port(r.Representor(vf), "") {
					portStatistics(out, c.XmitPackets, c.RcvPackets, c.XmitBytes, c.RcvBytes)
				}
			}
		}
	})
}

func portStatistics(out *bytes.Buffer, rxPackets, txPackets, rxBytes, txBytes float64) {
	fmt.Fprintf(out, "    RX packets:%d errors:0 dropped:0 overruns:0 frame:0\n    TX packets:%d errors:0 dropped:0 aborted:0 carrier:0\n"+
		"    collisions:0\n    RX bytes:%d%s  TX bytes:%d%s\n",
		uint64(rxPackets), uint64(txPackets), uint64(rxBytes), readable(rxBytes), uint64(txBytes), readable(txBytes))
}

// readable is OVS's second form of a byte count, given from 1,024 bytes on.
func readable(bytes float64) string {
	units := []string{"KiB", "MiB", "GiB", "TiB", "PiB"}
	if bytes < 1024 {
		return ""
	}
	unit := -1
	for bytes >= 1024 && unit < len(units)-1 {
		bytes /= 1024
		unit++
	}
	return fmt.Sprintf(" (%.1f %s)", bytes, units[unit])
}
