package vf_traffic

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/wallwatch/wallwatch/collectors/internal/cputime"
	"github.com/wallwatch/wallwatch/collectors/internal/plugintest"
	"github.com/wallwatch/wallwatch/collectors/internal/rnicinput"
	"github.com/wallwatch/wallwatch/collectors/internal/sysfs/sysfstest"
)

// BenchmarkASecond is what a second costs a host with four RNICs of 8 or 64 functions each, all of which are read: in doubt, or calm within the
// budget. Divided by 10,000 the figure is the share of a core in percent.
func BenchmarkASecond(b *testing.B) {
	for _, functions := range []int{8, 64} {
		b.Run(fmt.Sprintf("4x%d", functions), func(b *testing.B) {
			p, c := newPlugin(b, manyFunctions(b, functions))
			p.cpu = func(work func()) time.Duration { work(); return 0 } // always read
			acc := &plugintest.Accumulator{}
			var cpu time.Duration
			b.ReportAllocs()
			for b.Loop() {
				c.now = c.now.Add(time.Second)
				cpu += cputime.Of(func() {
					if err := p.Gather(acc); err != nil {
						b.Fatal(err)
					}
				})
				acc.Take()
			}
			// The machine may have other work: the time on the clock says less.
			b.ReportMetric(float64(cpu.Microseconds())/float64(b.N), "cpu-us/op")
		})
	}
}

func manyFunctions(b *testing.B, count int) string {
	b.Helper()
	var tree strings.Builder
	for _, bus := range []string{"3b", "5e", "86", "af"} {
		pf := "0000:" + bus + ":00.0"
		fmt.Fprintf(&tree, "devices/%s/driver -> ../../bus/pci/drivers/mlx5_core\nbus/pci/devices/%s -> ../../../devices/%s\n", pf, pf, pf)
		fmt.Fprintf(&tree, "class/net/ens%s/device -> ../../../devices/%s\n", bus, pf)
		fmt.Fprintf(&tree, "netlink/ethtool/ens%s.statistics = rx_bytes_phy: 1\\nrx_packets_phy: 1\\nrx_discards_phy: 0\\nrx_out_of_buffer: 0\n", bus)
		for vf := range count {
			pci := fmt.Sprintf("0000:%s:%02x.%d", bus, (vf+2)/8, (vf+2)%8)
			representor := fmt.Sprintf("class/net/ens%s_%d/", bus, vf)
			fmt.Fprintf(&tree, "devices/%s/virtfn%d -> ../%s\ndevices/%s/physfn -> ../%s\n", pf, vf, pci, pci, pf)
			fmt.Fprintf(&tree, "devices/%s/driver -> ../../bus/pci/drivers/mlx5_core\nbus/pci/devices/%s -> ../../../devices/%s\n", pci, pci, pci)
			fmt.Fprintf(&tree, "%sdevice -> ../../../devices/%s\n%sphys_port_name = pf0vf%d\n", representor, pf, representor, vf)
			for _, counter := range rnicinput.RepresentorCounters {
				fmt.Fprintf(&tree, "%sstatistics/%s = 123456789\n", representor, counter.File)
			}
		}
	}
	return sysfstest.Build(b, tree.String())
}
