// Package hostfs writes what a simulated host's kernel would show under /sys and /proc, with the kernel's own folders and
// symbolic links, and keeps the moving values up to date. Only files whose value changed are written.
package hostfs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine"
)

// Tree is the written state of one host.
type Tree struct {
	host    *engine.Host
	root    string // the host's folder
	written map[string]string
	log     kernelLog
	// Clock is the time of day that the file of probes has; time.Now unless the fleet runs on another clock.
	Clock  func() time.Time
	probed time.Duration // the second of the fleet whose probes were written last
}

// New writes the tree of a host below root. What an earlier run left there is replaced.
func New(host *engine.Host, root string) (*Tree, error) {
	t := &Tree{host: host, root: root, written: map[string]string{}, Clock: time.Now, probed: -1}
	for _, old := range []string{"sys", "netlink", "kmsg", "pstore", "proc/net", "proc/pressure", ProbeFile} {
		if err := os.RemoveAll(filepath.Join(root, old)); err != nil {
			return nil, fmt.Errorf("the old tree of %s cannot be removed: %w", host.Name, err)
		}
	}
	var errs []error
	for _, dir := range []string{"sys/class/net", "sys/class/infiniband", "sys/bus/pci/devices", "ovs", "pstore", "agent/cordon",
		"cni/results", "proc/sys/kernel/random"} {
		errs = append(errs, os.MkdirAll(filepath.Join(root, dir), 0o755))
	}
	for _, r := range host.RNICs {
		errs = append(errs, t.addRNIC(r))
	}
	b := builder{t: t}
	b.describeDrivers(host)
	return t, errors.Join(append(errs, b.errs...)...)
}

// bridge is the folder of the PCIe port above a card, whose name the kernel log has.
func bridge(pf string) string {
	var bus int
	_, _ = fmt.Sscanf(pf, "0000:%x:", &bus) // the scenario was checked to have such addresses only
	return fmt.Sprintf("sys/devices/pci0000:%02x/0000:%02x:00.0", bus-1, bus-1)
}

func device(pf, pci string) string { return filepath.Join(bridge(pf), pci) }

func (t *Tree) addRNIC(r *engine.RNIC) error {
	dev := device(r.PCI, r.PCI)
	b := builder{t: t}
	b.files(dev, map[string]string{
		"vendor": r.Model.VendorID, "device": r.Model.DeviceID, "class": "0x020000", "numa_node": strconv.Itoa(r.Index / 2),
		"max_link_speed": r.Model.PCISpeed, "max_link_width": strconv.Itoa(r.Model.PCIWidth),
		"aer_dev_correctable": correctable.text(0), "aer_dev_nonfatal": uncorrectable.text(0),
		"sriov_numvfs": strconv.Itoa(len(r.VFs)), "sriov_totalvfs": strconv.Itoa(r.Model.TotalVFs), "enable": "1",
	})
	if r.Streams() {
		b.transportSettings(dev, r)
	}
	b.link(filepath.Join("sys/bus/pci/devices", r.PCI), dev)
	b.driver(r.Model.Driver, dev)
	b.files(filepath.Join("sys/module", r.Model.Driver), map[string]string{"version": r.DriverVersion()})
	b.infiniband(dev, r.IBDev, r)
	b.uplink(dev, r)
	for vf := range r.VFs {
		b.virtualFunction(r, vf)
		b.representor(dev, r, vf)
	}
	return errors.Join(b.errs...)
}

// builder collects errors so that the tree's description reads as one.
type builder struct {
	t    *Tree
	errs []error
}

func (b *builder) files(dir string, values map[string]string) {
	for name, value := range values {
		b.errs = append(b.errs, b.t.put(filepath.Join(dir, name), value))
	}
}

// link makes a relative symbolic link; both paths are relative to the host's folder.
func (b *builder) link(name, target string) {
	// As the kernel writes it, the link names its target also where that is a folder above the link.
	relative, err := filepath.Rel(filepath.Dir(name), filepath.Dir(target))
	relative = filepath.Join(relative, filepath.Base(target))
	if err == nil {
		err = os.MkdirAll(filepath.Dir(filepath.Join(b.t.root, name)), 0o755)
	}
	if err == nil {
		err = os.Symlink(relative, filepath.Join(b.t.root, name))
	}
	b.errs = append(b.errs, err)
}

func (b *builder) driver(name, dev string) {
	folder := filepath.Join("sys/bus/pci/drivers", name)
	b.errs = append(b.errs, os.MkdirAll(filepath.Join(b.t.root, folder), 0o755))
	b.link(filepath.Join(dev, "driver"), folder)
}

func (b *builder) infiniband(dev, name string, r *engine.RNIC) {
	dir := filepath.Join(dev, "infiniband", name)
	values := map[string]string{"fw_ver": r.Firmware(), "node_type": "1: CA", "node_guid": guidText(r.GUID), "sys_image_guid": guidText(r.GUID)}
	if r.Model.HCAType != "" {
		values["hca_type"], values["board_id"] = r.Model.HCAType, r.Model.BoardID
	}
	b.files(dir, values)
	b.files(filepath.Join(dir, "ports/1"), map[string]string{"rate": r.Model.PortRate, "link_layer": "Ethernet", "lid": "0x0"})
	b.link(filepath.Join(dir, "device"), dev)
	b.link(filepath.Join("sys/class/infiniband", name), dir)
}

func (b *builder) uplink(dev string, r *engine.RNIC) {
	dir := filepath.Join(dev, "net", r.Netdev)
	b.files(dir, map[string]string{"address": macText(r.GUID), "mtu": "9216",
		"speed": strconv.Itoa(int(r.Model.LineGbps * 1000)), "ifindex": strconv.Itoa(uplinkIndex(r)), "phys_switch_id": switchID(r), "phys_port_name": "p0"})
	b.netdevLinks(dir, r.Netdev, dev)
}

func (b *builder) representor(dev string, r *engine.RNIC, vf int) {
	name := r.Representor(vf)
	dir := filepath.Join(dev, "net", name)
	b.files(dir, map[string]string{"operstate": "up", "mtu": "1500", "ifindex": strconv.Itoa(100 + 32*r.Index + vf),
		"phys_switch_id": switchID(r), "phys_port_name": fmt.Sprintf("pf0vf%d", vf)})
	b.files(filepath.Join(dir, "statistics"), map[string]string{"rx_bytes": "0", "tx_bytes": "0", "rx_packets": "0", "tx_packets": "0",
		"rx_dropped": "0", "tx_dropped": "0", "rx_errors": "0", "tx_errors": "0"})
	b.netdevLinks(dir, name, dev)
}

func (b *builder) netdevLinks(dir, name, dev string) {
	b.link(filepath.Join(dir, "device"), dev)
	b.link(filepath.Join("sys/class/net", name), dir)
}

func (b *builder) virtualFunction(r *engine.RNIC, vf int) {
	address := r.VFAddress(vf)
	dev := device(r.PCI, address)
	b.files(dev, map[string]string{"vendor": r.Model.VendorID, "device": r.Model.VFDeviceID, "class": "0x020000"})
	b.link(filepath.Join("sys/bus/pci/devices", address), dev)
	b.link(filepath.Join(dev, "physfn"), device(r.PCI, r.PCI))
	b.link(filepath.Join(device(r.PCI, r.PCI), fmt.Sprintf("virtfn%d", vf)), dev)
	driver := r.Model.Driver
	if driver == "ice" {
		driver = "iavf" // of Intel's VFs
	}
	b.driver(driver, dev)
}

// vfNetdev is the folder of the network device of a VF.
func vfNetdev(r *engine.RNIC, vf int) string {
	return filepath.Join(device(r.PCI, r.VFAddress(vf)), "net", r.VFNetdev(vf))
}

// The network device of a VF is in the host's namespace while no container has it.
const (
	here      = "here"
	elsewhere = "elsewhere"
)

// moveNetdev shows or hides the network device whose folder is given.
func (t *Tree) moveNetdev(dir, where string) error {
	if t.written[dir] == where {
		return nil
	}
	name := filepath.Base(dir)
	b := builder{t: t}
	if where == here {
		b.files(dir, map[string]string{"operstate": "down", "flags": flagsDown, "mtu": "1500", "address": "00:00:00:00:00:00"})
		b.netdevLinks(dir, name, filepath.Dir(filepath.Dir(dir)))
	} else {
		b.errs = append(b.errs, removeIfThere(filepath.Join(t.root, "sys/class/net", name)), os.RemoveAll(filepath.Join(t.root, dir)))
		for _, file := range []string{"operstate", "flags", "mtu", "address"} {
			delete(t.written, filepath.Join(dir, file))
		}
	}
	t.written[dir] = where
	return errors.Join(b.errs...)
}

func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

func switchID(r *engine.RNIC) string { return fmt.Sprintf("%016x", r.GUID) }

func guidText(guid uint64) string {
	return fmt.Sprintf("%04x:%04x:%04x:%04x", guid>>48, guid>>32&0xffff, guid>>16&0xffff, guid&0xffff)
}

func macText(guid uint64) string {
	return fmt.Sprintf("b8:3f:d2:%02x:%02x:%02x", byte(guid>>16), byte(guid>>8), byte(guid))
}
