package rnic

import (
	"path"
	"slices"
	"testing"

	"github.com/wallwatch/wallwatch/collectors/internal/plugintest"
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
		for _, v := range g.values {
			if !slices.Contains(irdmaCounters, v.field) {
				tree += path.Join(folders[g.kind]+g.folder, v.fileName()) + " = 1\n"
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
