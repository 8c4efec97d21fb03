package remediestest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/wallwatch/wallwatch/collectors/agent/kernel"
	"github.com/wallwatch/wallwatch/collectors/internal/netlink"
)

// formerGroup is the node in which VF 0 is when SetGroups was called.
const formerGroup = "gold"

// leafPorts are the ports of the VFs that have a leaf, by number of the VF.
var leafPorts = []uint32{1, 2, 3}

// rateGroups are the nodes of devlink's rates, and which leaf is in which. A kernel before 6.2 is what it stands for: a leaf must leave its node
// before it enters another one.
type rateGroups struct {
	nodes   map[string]netlink.Rate
	parents map[uint32]string // by port
}

// rates are all rate objects; leaf is VF 0's without its parent.
func (g rateGroups) rates(leaf netlink.Rate) []netlink.Rate {
	rates := slices.Collect(maps.Values(g.nodes))
	for vf, port := range leafPorts {
		rate := netlink.Rate{Port: port, VF: vf}
		if vf == 0 {
			rate = leaf
		}
		rate.Parent = g.parents[port]
		rates = append(rates, rate)
	}
	return rates
}

// SetGroups gives VFs 0 to 2 rate objects. VF 0 is in the node gold, the others in none.
func (h *Host) SetGroups() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.hasRates = true
	h.groups = rateGroups{
		nodes: map[string]netlink.Rate{formerGroup: {Node: formerGroup, VF: -1, ShareBps: 1e9}}, parents: map[uint32]string{leafPorts[0]: formerGroup},
	}
}

// AddRateNode implements kernel.Kernel.
func (h *Host) AddRateNode(_ context.Context, pci, node string, shareBps, maxBps uint64) error {
	if err := h.allowed(fmt.Sprintf("devlink port function rate add pci/%s/%s tx_share %dbps tx_max %dbps", pci, node, shareBps, maxBps)); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, taken := h.groups.nodes[node]; taken {
		return errors.New("file exists")
	}
	h.groups.nodes[node] = netlink.Rate{Node: node, VF: -1, ShareBps: shareBps, MaxBps: maxBps}
	return nil
}

// DeleteRateNode implements kernel.Kernel.
func (h *Host) DeleteRateNode(_ context.Context, pci, node string) error {
	if err := h.allowed(fmt.Sprintf("devlink port function rate del pci/%s/%s", pci, node)); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, found := h.groups.nodes[node]; !found {
		return errors.New("no such device")
	}
	for _, parent := range h.groups.parents {
		if parent == node {
			return errors.New("device or resource busy")
		}
	}
	delete(h.groups.nodes, node)
	return nil
}

// SetRateParent implements kernel.Kernel.
func (h *Host) SetRateParent(_ context.Context, pci string, port uint32, node string) error {
	h.mu.Lock()
	busy := node != "" && h.groups.parents[port] != ""
	h.mu.Unlock()
	if busy {
		return kernel.ErrHasParent
	}
	if err := h.allowed(fmt.Sprintf("devlink port function rate set pci/%s/%d parent %q", pci, port, node)); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if node == "" {
		delete(h.groups.parents, port)
		return nil
	}
	if _, found := h.groups.nodes[node]; !found {
		return errors.New("no such device")
	}
	h.groups.parents[port] = node
	return nil
}
