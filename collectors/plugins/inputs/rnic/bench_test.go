package rnic

import (
	"testing"

	"github.com/wallwatch/wallwatch/collectors/internal/plugintest"
	"github.com/wallwatch/wallwatch/collectors/internal/sysfs/sysfstest"
)

// BenchmarkGatherOneRNIC reads an RNIC that has every file.
func BenchmarkGatherOneRNIC(b *testing.B) {
	tree := "devices/0000:3b:00.0/driver -> ../../bus/pci/drivers/mlx5_core\n" +
		"bus/pci/devices/0000:3b:00.0 -> ../../../devices/0000:3b:00.0\n" +
		"class/infiniband/mlx5_0/device -> ../../../devices/0000:3b:00.0\n" +
		"class/net/ens1f0/device -> ../../../devices/0000:3b:00.0\n"
	folders := map[int]string{0: "class/infiniband/mlx5_0/ports/1/", 1: "class/net/ens1f0/", 2: "bus/pci/devices/0000:3b:00.0/"}
	for _, v := range values {
		tree += folders[int(v.kind)] + v.file + " = 1\n"
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
