package rnic

import (
	"fmt"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/influxdata/telegraf/config"

	"github.com/wallwatch/wallwatch/collectors/internal/cputime"
	"github.com/wallwatch/wallwatch/collectors/internal/plugintest"
	"github.com/wallwatch/wallwatch/collectors/internal/rnicinput"
	"github.com/wallwatch/wallwatch/collectors/internal/sysfs"
	"github.com/wallwatch/wallwatch/collectors/internal/sysfs/sysfstest"
)

// BenchmarkGatherOneRNIC reads an RNIC that has every file.
func BenchmarkGatherOneRNIC(b *testing.B) {
	tree := "devices/0000:3b:00.0/driver -> ../../bus/pci/drivers/mlx5_core\n" +
		"bus/pci/devices/0000:3b:00.0 -> ../../../devices/0000:3b:00.0\n" +
		"class/infiniband/mlx5_0/device -> ../../../devices/0000:3b:00.0\n" +
		"class/net/ens1f0/device -> ../../../devices/0000:3b:00.0\n"
	folders := map[sysfs.Kind]string{
		sysfs.Port: "class/infiniband/mlx5_0/ports/1/", sysfs.Net: "class/net/ens1f0/", sysfs.PCI: "bus/pci/devices/0000:3b:00.0/",
	}
	for _, g := range groups {
		for _, v := range g.Values {
			if v.Field == strings.ToLower(v.Field) { // irdma's counters have capitals; one card has one driver
				tree += path.Join(folders[g.Kind]+g.Folder, v.FileName()) + " = 1\n"
			}
		}
	}
	p, _ := newPlugin(b, sysfstest.Build(b, tree))
	acc := &plugintest.Accumulator{}
	b.ReportAllocs()
	for b.Loop() {
		if err := p.Gather(acc); err != nil {
			b.Fatal(err)
		}
		acc.Take()
	}
}

// BenchmarkGatherFourRNICsWith64FunctionsEach shows what the functions cost, sampled in every gathering and never: the difference
// is the cost of one sample of 256 functions.
func BenchmarkGatherFourRNICsWith64FunctionsEach(b *testing.B) {
	var tree strings.Builder
	for _, bus := range []string{"3b", "5e", "86", "af"} {
		pf := "0000:" + bus + ":00.0"
		fmt.Fprintf(&tree, "devices/%s/driver -> ../../bus/pci/drivers/mlx5_core\nbus/pci/devices/%s -> ../../../devices/%s\n", pf, pf, pf)
		fmt.Fprintf(&tree, "class/net/ens%s/device -> ../../../devices/%s\n", bus, pf)
		for vf := range 64 {
			pci := fmt.Sprintf("0000:%s:%02x.%d", bus, (vf+2)/8, (vf+2)%8)
			representor := fmt.Sprintf("class/net/ens%s_%d/", bus, vf)
			fmt.Fprintf(&tree, "devices/%s/virtfn%d -> ../%s\ndevices/%s/physfn -> ../%s\n", pf, vf, pci, pci, pf)
			fmt.Fprintf(&tree, "devices/%s/driver -> ../../bus/pci/drivers/mlx5_core\nbus/pci/devices/%s -> ../../../devices/%s\n", pci, pci, pci)
			fmt.Fprintf(&tree, "%sdevice -> ../../../devices/%s\n%sphys_port_name = pf0vf%d\n%soperstate = up\n", representor, pf, representor, vf, representor)
			for _, counter := range rnicinput.RepresentorCounters {
				fmt.Fprintf(&tree, "%sstatistics/%s = 123456789\n", representor, counter.File)
			}
		}
	}
	root := sysfstest.Build(b, tree.String())
	for name, interval := range map[string]time.Duration{"never": 0, "each": time.Nanosecond} {
		b.Run(name, func(b *testing.B) {
			p, c := newPlugin(b, root)
			p.VFInterval = config.Duration(interval)
			acc := &plugintest.Accumulator{}
			b.ReportAllocs()
			var cpu time.Duration
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
