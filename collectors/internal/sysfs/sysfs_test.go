package sysfs_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"testing"

	"github.com/wallwatch/wallwatch/collectors/internal/sysfs"
	"github.com/wallwatch/wallwatch/collectors/internal/sysfs/sysfstest"
)

// twoPorts is a host with a two-port mlx5 card (one eSwitch for each port), an E810 without irdma and a NIC that cannot
// do RDMA. The links are the kernel's: class devices lie below their PCI device.
const twoPorts = `
devices/pci0/0000:3b:00.0/vendor = 0x15b3
devices/pci0/0000:3b:00.0/device = 0x101d
devices/pci0/0000:3b:00.0/driver -> ../../../bus/pci/drivers/mlx5_core
devices/pci0/0000:3b:00.0/virtfn0 -> ../0000:3b:00.2
devices/pci0/0000:3b:00.0/virtfn1 -> ../0000:3b:00.3
devices/pci0/0000:3b:00.2/physfn -> ../0000:3b:00.0
devices/pci0/0000:3b:00.3/physfn -> ../0000:3b:00.0
devices/pci0/0000:3b:00.1/driver -> ../../../bus/pci/drivers/mlx5_core
devices/pci0/0000:5e:00.0/driver -> ../../../bus/pci/drivers/ice
devices/pci0/0000:00:1f.6/driver -> ../../../bus/pci/drivers/e1000e
bus/pci/drivers/mlx5_core/
bus/pci/drivers/ice/
bus/pci/drivers/e1000e/
bus/pci/devices/0000:3b:00.0 -> ../../../devices/pci0/0000:3b:00.0
bus/pci/devices/0000:3b:00.1 -> ../../../devices/pci0/0000:3b:00.1
bus/pci/devices/0000:3b:00.2 -> ../../../devices/pci0/0000:3b:00.2
bus/pci/devices/0000:3b:00.3 -> ../../../devices/pci0/0000:3b:00.3
bus/pci/devices/0000:5e:00.0 -> ../../../devices/pci0/0000:5e:00.0
bus/pci/devices/0000:00:1f.6 -> ../../../devices/pci0/0000:00:1f.6

devices/pci0/0000:3b:00.0/infiniband/mlx5_0/device -> ../../../0000:3b:00.0
devices/pci0/0000:3b:00.1/infiniband/mlx5_1/device -> ../../../0000:3b:00.1
devices/pci0/0000:3b:00.2/infiniband/mlx5_2/device -> ../../../0000:3b:00.2
class/infiniband/mlx5_0 -> ../../devices/pci0/0000:3b:00.0/infiniband/mlx5_0
class/infiniband/mlx5_1 -> ../../devices/pci0/0000:3b:00.1/infiniband/mlx5_1
class/infiniband/mlx5_2 -> ../../devices/pci0/0000:3b:00.2/infiniband/mlx5_2

devices/pci0/0000:3b:00.0/net/ens1f0/device -> ../../../0000:3b:00.0
devices/pci0/0000:3b:00.0/net/ens1f0/phys_switch_id = aa01
devices/pci0/0000:3b:00.0/net/ens1f0/phys_port_name = p0
devices/pci0/0000:3b:00.0/net/ens1f0_0/device -> ../../../0000:3b:00.0
devices/pci0/0000:3b:00.0/net/ens1f0_0/phys_switch_id = aa01
devices/pci0/0000:3b:00.0/net/ens1f0_0/phys_port_name = pf0vf0
devices/pci0/0000:3b:00.1/net/ens1f1/device -> ../../../0000:3b:00.1
devices/pci0/0000:3b:00.1/net/ens1f1/phys_switch_id = aa01
devices/pci0/0000:3b:00.1/net/ens1f1/phys_port_name = p1
devices/pci0/0000:5e:00.0/net/ens2/device -> ../../../0000:5e:00.0
devices/pci0/0000:5e:00.0/net/ens2/phys_switch_id = bb01
devices/pci0/0000:00:1f.6/net/eno1/device -> ../../../0000:00:1f.6
devices/pci0/0000:3b:00.3/net/ens1f0v1/device -> ../../../0000:3b:00.3
class/net/ens1f0 -> ../../devices/pci0/0000:3b:00.0/net/ens1f0
class/net/ens1f0_0 -> ../../devices/pci0/0000:3b:00.0/net/ens1f0_0
class/net/ens1f1 -> ../../devices/pci0/0000:3b:00.1/net/ens1f1
class/net/ens2 -> ../../devices/pci0/0000:5e:00.0/net/ens2
class/net/eno1 -> ../../devices/pci0/0000:00:1f.6/net/eno1
class/net/ens1f0v1 -> ../../devices/pci0/0000:3b:00.3/net/ens1f0v1
# representors without a link to a device
class/net/rep1/phys_switch_id = aa01
class/net/rep1/phys_port_name = pf1vf4
class/net/rep2/phys_switch_id = bb01
class/net/rep2/phys_port_name = c1pf0sf88
class/net/rep3/phys_switch_id = dead
class/net/rep3/phys_port_name = pf0vf0
class/net/lo/mtu = 65536
`

func TestPhysicalFunctionsThatCanDoRDMAAreFound(t *testing.T) {
	rnics, err := sysfs.Root{Path: sysfstest.Build(t, twoPorts)}.RNICs()
	if err != nil {
		t.Fatal(err)
	}
	var got string
	for _, r := range rnics {
		got += fmt.Sprintf("%s %q %q %s %q\n", r.ID, r.IBDev, r.Netdev, r.Driver, r.PCIID)
	}
	want := `0000:3b:00.0 "mlx5_0" "ens1f0" mlx5_core "15b3:101d"
0000:3b:00.1 "mlx5_1" "ens1f1" mlx5_core ""
0000:5e:00.0 "" "ens2" ice ""
`
	if got != want {
		t.Errorf("got:\n%swant (no virtual functions, representors or other NICs):\n%s", got, want)
	}
}

func TestRepresentorsBelongToTheRNICOfTheirESwitchAndPort(t *testing.T) {
	root := sysfs.Root{Path: sysfstest.Build(t, twoPorts)}
	rnics, err := root.RNICs()
	if err != nil {
		t.Fatal(err)
	}
	representors, err := root.Representors(rnics)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]sysfs.Representor{
		"ens1f0_0": {Netdev: "ens1f0_0", PFID: "0000:3b:00.0", VF: 0},
		"rep1":     {Netdev: "rep1", PFID: "0000:3b:00.1", VF: 4},
		"rep2":     {Netdev: "rep2", PFID: "0000:5e:00.0", VF: -1},
	} {
		if representors[name] != want {
			t.Errorf("%s: got %+v, want %+v", name, representors[name], want)
		}
	}
	if len(representors) != 3 {
		t.Errorf("%d representors, want 3: an uplink, lo and a representor of an unknown eSwitch are none: %v", len(representors), representors)
	}
}

func TestTheFunctionOfAVFIsFound(t *testing.T) {
	root := sysfs.Root{Path: sysfstest.Build(t, twoPorts)}
	if pf, err := root.PhysFn("0000:3B:00.2"); err != nil || pf != "0000:3b:00.0" {
		t.Errorf("got %q, %v", pf, err)
	}
	if _, err := root.PhysFn("0000:3b:00.0"); !errors.Is(err, sysfs.ErrNotVF) {
		t.Errorf("a physical function: %v", err)
	}
	if _, err := root.PhysFn("0000:99:00.0"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a device that is not there: %v", err)
	}
	if _, err := root.PhysFn("../../etc"); err == nil {
		t.Error("a path was taken for an address")
	}
	vfs, err := root.VFs("0000:3b:00.0")
	if err != nil || len(vfs) != 2 || vfs[1] != "0000:3b:00.3" {
		t.Errorf("VFs: %v, %v", vfs, err)
	}
}

func TestATreeWithoutLinksGivesDevicesByTheirName(t *testing.T) {
	rnics, err := sysfs.Root{Path: sysfstest.Build(t, "class/infiniband/mlx5_7/fw_ver = 28.41.1000")}.RNICs()
	if err != nil || len(rnics) != 1 || rnics[0].ID != "mlx5_7" || rnics[0].PCI != "" {
		t.Fatalf("%+v, %v", rnics, err)
	}
	if got := rnics[0].Attributes().Firmware; got != "28.41.1000" {
		t.Errorf("firmware %q", got)
	}
}

func TestAHostWithoutRNICsIsNotAnError(t *testing.T) {
	if rnics, err := (sysfs.Root{Path: t.TempDir()}).RNICs(); err != nil || len(rnics) != 0 {
		t.Errorf("%v, %v", rnics, err)
	}
}

func TestValuesThatTheKernelDoesNotShowAreErrors(t *testing.T) {
	root := sysfstest.Build(t, "good = 18446744073709551615\nna = N/A (no PMA)\nempty = \nnegative = -1\nspeed = 16.0 GT/s PCIe\nunknown = Unknown\nnan = nan\n"+
		"endless = inf\nstate = 4: ACTIVE\ncut = 4:\nfolder/")
	var reader sysfs.Reader
	if got, err := reader.Uint(root + "/good"); err != nil || got != 1<<64-1 {
		t.Errorf("%d, %v", got, err)
	}
	for _, name := range []string{"na", "empty", "negative"} {
		if got, err := reader.Uint(root + "/" + name); !errors.Is(err, sysfs.ErrUnavailable) {
			t.Errorf("%s: %d, %v", name, got, err)
		}
	}
	if _, err := reader.Uint(root + "/folder"); err == nil || errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder: %v", err)
	}
	if got, err := reader.Leading(root + "/speed"); err != nil || got != 16 {
		t.Errorf("%v, %v", got, err)
	}
	for _, name := range []string{"unknown", "nan", "endless"} {
		if got, err := reader.Leading(root + "/" + name); !errors.Is(err, sysfs.ErrUnavailable) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	if got, err := reader.State(root + "/state"); err != nil || got != "ACTIVE" {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := reader.State(root + "/cut"); !errors.Is(err, sysfs.ErrUnavailable) {
		t.Errorf("%q, %v", got, err)
	}
}

// A device can go between the listing of its class and the reading of its links; a link that leads nowhere is what that moment looks like.
func TestADeviceThatGoesWhileItIsListedIsNoRNICOfAnotherName(t *testing.T) {
	for name, tree := range map[string]string{
		"a physical function": "class/infiniband/mlx5_0 -> ../../devices/0000:3b:00.0/infiniband/mlx5_0",
		// Its address can still be read where its InfiniBand device is gone, but not that it was a virtual function.
		"a virtual function": "class/infiniband/mlx5_2/device -> ../../../devices/0000:3b:00.2\nbus/pci/devices/",
		"its network device": "devices/0000:3b:00.2/driver -> ../../bus/pci/drivers/mlx5_core\n" +
			"bus/pci/devices/0000:3b:00.2 -> ../../../devices/0000:3b:00.2\nclass/net/eth9 -> ../../devices/0000:3b:00.2/net/eth9",
	} {
		rnics, err := sysfs.Root{Path: sysfstest.Build(t, tree)}.RNICs()
		if err != nil || len(rnics) != 0 {
			t.Errorf("%s: %+v, %v", name, rnics, err)
		}
	}
}

func TestVirtualFunctionsHaveTheirDriversDevicesAndRepresentors(t *testing.T) {
	tree := sysfstest.Build(t, twoPorts+`
bus/pci/drivers/vfio-pci/
devices/pci0/0000:3b:00.2/driver -> ../../../bus/pci/drivers/mlx5_core
devices/pci0/0000:3b:00.3/driver -> ../../../bus/pci/drivers/vfio-pci
devices/pci0/0000:3b:00.0/virtfnX -> ../0000:3b:00.3
devices/pci0/0000:3b:00.0/virtfn-1 -> ../0000:3b:00.3
`)
	root := sysfs.Root{Path: tree}
	rnics, err := root.RNICs()
	if err != nil {
		t.Fatal(err)
	}
	representors, err := root.Representors(rnics)
	if err != nil {
		t.Fatal(err)
	}
	vfs, err := root.Bindings("0000:3b:00.0")
	if err != nil {
		t.Fatal(err)
	}
	root.Describe("0000:3b:00.0", vfs, representors)
	want := []sysfs.VF{
		{Number: 0, PCI: "0000:3b:00.2", Driver: "mlx5_core", IBDev: "mlx5_2", Representor: "ens1f0_0"},
		{Number: 1, PCI: "0000:3b:00.3", Driver: "vfio-pci", Netdev: "ens1f0v1"},
	}
	if len(vfs) != 2 || vfs[0] != want[0] || vfs[1] != want[1] {
		t.Errorf("got %+v, want %+v", vfs, want)
	}
	if _, err := root.Bindings("0000:99:00.0"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a device that is not there: %v", err)
	}
}

func TestErrorReportsAreReadLineByLine(t *testing.T) {
	root := sysfstest.Build(t, "empty = \nflags = 0x1002\nup = 0x11043\nodd = up")
	if err := os.WriteFile(root+"/aer", []byte("RxErr 3\nBadTLP x\nlost\nTOTAL_ERR_COR 3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var reader sysfs.Reader
	counts, err := reader.Errors(root + "/aer")
	if err != nil || len(counts) != 2 || counts["RxErr"] != 3 || counts["TOTAL_ERR_COR"] != 3 {
		t.Errorf("%v, %v", counts, err)
	}
	if _, err := reader.Errors(root + "/empty"); !errors.Is(err, sysfs.ErrUnavailable) {
		t.Errorf("an empty file: %v", err)
	}
	if up, err := reader.AdminUp(root + "/flags"); err != nil || up {
		t.Errorf("0x1002: %v, %v", up, err)
	}
	if up, err := reader.AdminUp(root + "/up"); err != nil || !up {
		t.Errorf("0x11043: %v, %v", up, err)
	}
	if _, err := reader.AdminUp(root + "/odd"); !errors.Is(err, sysfs.ErrUnavailable) {
		t.Errorf("not a number: %v", err)
	}
}
