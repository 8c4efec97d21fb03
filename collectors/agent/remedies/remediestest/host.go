// Package remediestest stands for what remedies act on where a test needs to hold it still, refuse it or let the agent die in the middle of it. Real
// switches, databases and kernels are in other tests.
package remediestest

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/wallwatch/wallwatch/collectors/agent/kernel"
	"github.com/wallwatch/wallwatch/collectors/internal/netlink"
	"github.com/wallwatch/wallwatch/collectors/internal/ovs/ovstest"
)

// PCI is the RNIC of the host.
const PCI = "0000:3b:00.0"

// Sysfs is the tree of a host with one RNIC, whose uplink is p0 and whose representors are p0_0 and p0_1.
const Sysfs = `
bus/pci/devices/0000:3b:00.0/net/p0/
class/infiniband/mlx5_0/device -> ../../../bus/pci/devices/0000:3b:00.0
class/net/p0/device -> ../../../bus/pci/devices/0000:3b:00.0
class/net/p0/phys_switch_id = aabb
class/net/p0/phys_port_name = p0
class/net/p0/speed = 100000
class/net/p0_0/phys_switch_id = aabb
class/net/p0_0/phys_port_name = pf0vf0
class/net/p0_1/phys_switch_id = aabb
class/net/p0_1/phys_port_name = pf0vf1
`

// ports are the datapath's, by number.
var ports = map[string]string{"3": "p0_0", "4": "p0_1", "5": "vxlan_sys_4789"}

// Host is Open vSwitch, its database and the kernel of one host in memory. Packets of all its flows pass all the time: a flow that is deleted is back
// in the next dump, in the hardware where its port may be there. It is safe for concurrent use.
type Host struct {
	netlink.Folder // has nothing of what is not below
	Switch         *ovstest.FlowSwitch

	mu      sync.Mutex
	lines   []string
	layers  map[string]string
	off     map[string]bool
	filters map[string][]netlink.Filter
	failed  bool
	// limit and guarantee are those of VF 0 by ip link; others is what VF 1 is guaranteed.
	limit, guarantee, others uint64
	// leafBps and shareBps are the limit and the guarantee of VF 0 in devlink, where hasRates says that devlink has rate objects.
	leafBps, shareBps uint64
	hasRates          bool
	groups            rateGroups
	config            map[string]string
	// Refuse is asked before each change, in the words of the tools; an error is the answer, and nothing is changed. It is called without a lock.
	Refuse func(change string) error
	// Dumped is called before each dump of the flows, without a lock.
	Dumped func()
}

// New starts the switch of a host with these flows, "match|actions" each, all in the hardware.
func New(t testing.TB, lines ...string) *Host {
	t.Helper()
	folder, err := os.MkdirTemp("", "ww") // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	h := &Host{
		Folder: netlink.Folder{Path: folder}, lines: lines, layers: map[string]string{}, off: map[string]bool{},
		filters: map[string][]netlink.Filter{}, config: map[string]string{},
	}
	h.Switch = ovstest.StartFlowSwitch(t, folder, "3: p0_0", "4: p0_1", "5: vxlan_sys_4789 (vxlan: packet_type=ptap)", "7: eth9")
	h.Switch.Layer = h.layer
	h.Switch.Before = h.before
	h.traffic()
	return h
}

func (h *Host) before(command string, arguments []string) error {
	switch command {
	case "dpctl/dump-flows":
		if h.Dumped != nil {
			h.Dumped()
		}
		h.traffic()
	case "dpctl/del-flow":
		if err := h.allowed("dpctl/del-flow " + arguments[len(arguments)-1]); err != nil {
			return err
		}
		h.Move(strings.TrimPrefix(arguments[len(arguments)-1], "ufid:"), "")
	}
	return nil
}

func (h *Host) allowed(change string) error {
	if h.Refuse == nil {
		return nil
	}
	return h.Refuse(change)
}

// traffic lets a packet of each flow pass.
func (h *Host) traffic() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, line := range h.lines {
		id, rest, _ := strings.Cut(strings.TrimPrefix(line, "ufid:"), ",")
		if h.layers[id] != "" {
			continue
		}
		h.layers[id] = ovstest.InHardware
		for number, port := range ports {
			if h.off[port] && strings.Contains(rest, "in_port("+number+")") {
				h.layers[id] = ovstest.InSoftware
			}
		}
	}
	h.Switch.Set(h.lines...)
}

func (h *Host) layer(id string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.layers[id]
}

// Move puts a flow into a layer of ovstest's, or nowhere until its next packet.
func (h *Host) Move(id, layer string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.layers[id] = layer
}

// AddFlow adds a flow that packets ask for.
func (h *Host) AddFlow(line string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lines = append(h.lines, line)
}

// InHardware are the last digits of the identities of the flows there, in order, with the packets of this moment passed.
func (h *Host) InHardware() string {
	h.traffic()
	h.mu.Lock()
	defer h.mu.Unlock()
	var found []string
	for id, layer := range h.layers {
		if layer == ovstest.InHardware {
			found = append(found, id[len(id)-1:])
		}
	}
	slices.Sort(found)
	return strings.Join(found, "")
}

// State is everything that remedies change, as text.
func (h *Host) State() string {
	hardware := h.InHardware()
	h.mu.Lock()
	defer h.mu.Unlock()
	var switchedOff []string
	for port, off := range h.off {
		if off {
			switchedOff = append(switchedOff, port)
		}
	}
	slices.Sort(switchedOff)
	return fmt.Sprintf("config %v, hardware %s, off %v, filters %v, failed %v, limit %d, guarantee %d, leaf %d, share %d, groups %v",
		h.config, hardware, switchedOff, h.filters, h.failed, h.limit, h.guarantee, h.leafBps, h.shareBps, h.groups)
}

// Health implements netlink.Source.
func (h *Host) Health() (map[string][]netlink.Reporter, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return map[string][]netlink.Reporter{PCI: {{Name: "fw_fatal", Failed: h.failed}}}, nil
}

// Fail puts the health reporter into its error state.
func (h *Host) Fail() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.failed = true
}

// RecoverHealth implements kernel.Kernel.
func (h *Host) RecoverHealth(_ context.Context, pci, reporter string) error {
	if err := h.allowed("devlink health recover pci/" + pci + " reporter " + reporter); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.failed = false
	return nil
}

// VFs implements netlink.Source: VF 0 has a limit and a guarantee, or none; VF 1 may have a guarantee.
func (h *Host) VFs(string, bool) (map[int]netlink.VF, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	most, least, none, others := h.limit, h.guarantee, uint64(0), h.others
	return map[int]netlink.VF{0: {MaxTxMbps: &most, MinTxMbps: &least}, 1: {MaxTxMbps: &none, MinTxMbps: &others}}, nil
}

// LimitVF implements kernel.Kernel.
func (h *Host) LimitVF(_ context.Context, uplink string, vf int, minMbps, maxMbps uint32) error {
	if err := h.allowed(fmt.Sprintf("ip link set dev %s vf %d max_tx_rate %d min_tx_rate %d", uplink, vf, maxMbps, minMbps)); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.limit, h.guarantee = uint64(maxMbps), uint64(minMbps)
	return nil
}

// Rates implements netlink.Source: once SetRates was called, VF 0 has a leaf at port 1.
func (h *Host) Rates(bool) (map[string][]netlink.Rate, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.hasRates {
		return nil, netlink.ErrUnsupported
	}
	leaf := netlink.Rate{Port: 1, VF: 0, Parent: "gold", MaxBps: h.leafBps, ShareBps: h.shareBps}
	rates := []netlink.Rate{{Node: "gold", VF: -1}, {Port: 0, VF: -1}, leaf}
	if h.groups.nodes != nil {
		rates = h.groups.rates(leaf)
	}
	return map[string][]netlink.Rate{PCI: rates}, nil
}

// SetRates gives VF 0 a rate object of devlink with this limit, in bytes per second.
func (h *Host) SetRates(maxBps uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.hasRates, h.leafBps = true, maxBps
}

// SetGuarantees gives VF 0 a guarantee by ip link and VF 1 another one, in Mbit/s.
func (h *Host) SetGuarantees(mbps, others uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.guarantee, h.others = mbps, others
}

// SetLimit gives VF 0 a limit by ip link, in Mbit/s.
func (h *Host) SetLimit(mbps uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.limit = mbps
}

// GuaranteePort implements kernel.Kernel.
func (h *Host) GuaranteePort(_ context.Context, pci string, port uint32, shareBps uint64) error {
	if err := h.allowed(fmt.Sprintf("devlink port function rate set pci/%s/%d tx_share %dbps", pci, port, shareBps)); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.shareBps = shareBps
	return nil
}

// LimitPort implements kernel.Kernel.
func (h *Host) LimitPort(_ context.Context, pci string, port uint32, maxBps uint64) error {
	if err := h.allowed(fmt.Sprintf("devlink port function rate set pci/%s/%d tx_max %dbps", pci, port, maxBps)); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.leafBps = maxBps
	return nil
}

// TCOffload implements kernel.Kernel.
func (h *Host) TCOffload(_ context.Context, netdevs []string) (map[string]bool, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	found := map[string]bool{}
	for _, netdev := range netdevs {
		found[netdev] = !h.off[netdev]
	}
	return found, nil
}

// SetTCOffload implements kernel.Kernel.
func (h *Host) SetTCOffload(_ context.Context, netdev string, on bool) error {
	state := "off"
	if on {
		state = "on"
	}
	if err := h.allowed("ethtool -K " + netdev + " hw-tc-offload " + state); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.off[netdev] = !on
	return nil
}

// SetFilters replaces the filters at a port. They are no flows' of the switch: a test says which filters it wants.
func (h *Host) SetFilters(netdev string, filters ...netlink.Filter) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.filters[netdev] = filters
}

// Filters implements kernel.Kernel.
func (h *Host) Filters(_ context.Context, netdevs []string) (map[string][]netlink.Filter, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	found := map[string][]netlink.Filter{}
	for _, netdev := range netdevs {
		found[netdev] = slices.Clone(h.filters[netdev])
	}
	return found, nil
}

// DeleteFilter implements kernel.Kernel.
func (h *Host) DeleteFilter(_ context.Context, filter netlink.Filter) error {
	if err := h.allowed("tc filter del " + filter.String()); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	at := slices.Index(h.filters[filter.Netdev], filter)
	if at < 0 {
		return kernel.ErrNoFilter
	}
	h.filters[filter.Netdev] = slices.Delete(h.filters[filter.Netdev], at, at+1)
	return nil
}

// OtherConfig implements remedies.SwitchDatabase.
func (h *Host) OtherConfig(context.Context) (map[string]string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return maps.Clone(h.config), nil
}

// SetOtherConfig implements remedies.SwitchDatabase.
func (h *Host) SetOtherConfig(_ context.Context, set map[string]string, remove []string) error {
	if err := h.allowed("ovs-vsctl set Open_vSwitch . other_config"); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	maps.Copy(h.config, set)
	for _, key := range remove {
		delete(h.config, key)
	}
	return nil
}
