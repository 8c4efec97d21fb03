package engine

import (
	"errors"
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine/driverlog"
)

// What an administrator, or an agent, can do to a host's cards. Each method is one operation of a tool on a real host; a card reacts by its
// mechanisms, and an error has the words of the kernel.

// portOffload is the settings of one VF.
type portOffload struct {
	off       bool    // the representor's hw-tc-offload
	limitGbps float64 // max_tx_rate; 0 without a limit
	// guaranteedGbps is min_tx_rate; 0 without a guarantee.
	guaranteedGbps float64
	group          string // the rate group that the VF is in, "" for none
}

// ErrNoDevice is the answer about a device that the host does not have.
var ErrNoDevice = errors.New("No such device") //nolint:staticcheck // the kernel's words

// RecoverHealth is "devlink health recover": the driver resets a card whose reporter is in its error state, and does nothing to a healthy one.
func (e *Engine) RecoverHealth(h *Host, pci, reporter string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, r := range h.RNICs {
		if r.PCI != pci {
			continue
		}
		if reporter != r.Reporter() {
			return errors.New("Invalid argument") //nolint:staticcheck // the kernel's words
		}
		if r.health.Failed && !h.Down(e.now) {
			r.recover(e.now)
		}
		return nil
	}
	return ErrNoDevice
}

// Reporter is the name of the health reporter that fails when the firmware has stopped: ice has no fw_fatal.
func (r *RNIC) Reporter() string {
	if r.Model.Driver == driverlog.ICE {
		return "tx_hang"
	}
	return "fw_fatal"
}

// port finds the VF of a representor.
func (h *Host) port(representor string) (*RNIC, int, error) {
	for _, r := range h.RNICs {
		for vf := range r.VFs {
			if r.Representor(vf) == representor {
				return r, vf, nil
			}
		}
	}
	return nil, 0, ErrNoDevice
}

// SetOffload is "ethtool -K REPRESENTOR hw-tc-offload on|off": whether flows that come from the VF may be offloaded. As with mlx5's
// representors of VFs (and other than with its uplinks), what is in the hardware stays there until it is deleted.
func (e *Engine) SetOffload(h *Host, representor string, on bool) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	r, vf, err := h.port(representor)
	if err != nil {
		return err
	}
	r.ports[vf].off = !on
	return nil
}

// Offload is hw-tc-offload in "ethtool -k REPRESENTOR".
func (e *Engine) Offload(h *Host, representor string) (bool, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	r, vf, err := h.port(representor)
	return err == nil && !r.ports[vf].off, err
}

// filters are the entries that TC's filters of a representor stand for: those of flows that come from the VF.
func (r *RNIC) filters(vf int) []*Entry {
	var found []*Entry
	for _, entry := range r.entries {
		if entry.dir == Egress && entry.conn.src.VF == vf && entry.state == installed {
			found = append(found, entry)
		}
	}
	return found
}

// DeleteFilters is "tc filter del dev REPRESENTOR ingress". Open vSwitch is not notified: it finds its flows missing in its next round.
func (e *Engine) DeleteFilters(h *Host, representor string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	r, vf, err := h.port(representor)
	if err != nil {
		return err
	}
	if r.silent() {
		return errors.New("Connection timed out") //nolint:staticcheck // the kernel's words
	}
	for _, entry := range r.filters(vf) {
		r.lose(entry, e.now)
	}
	return nil
}

// LimitVF is "ip link set dev UPLINK vf VF max_tx_rate MBPS": what the VF may send, in Gbit/s; 0 takes the limit away.
func (e *Engine) LimitVF(h *Host, uplink string, vf int, gbps float64) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, r := range h.RNICs {
		if r.Netdev != uplink {
			continue
		}
		if vf < 0 || vf >= len(r.VFs) || gbps < 0 {
			return errors.New("Invalid argument") //nolint:staticcheck // the kernel's words
		}
		r.ports[vf].limitGbps = gbps
		return nil
	}
	return ErrNoDevice
}

// PortOfVF is the index of a VF's port in devlink; 0 is the uplink's.
func PortOfVF(vf int) int { return vf + 1 }

// LimitPort is "devlink port function rate set pci/ADDRESS/PORT tx_max RATE": the same scheduler of the card as LimitVF sets, as in mlx5, so each
// tool shows what the other has set.
func (e *Engine) LimitPort(h *Host, pci string, port int, gbps float64) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, r := range h.RNICs {
		if r.PCI != pci {
			continue
		}
		vf := port - PortOfVF(0)
		if vf < 0 || vf >= len(r.VFs) || gbps < 0 {
			return ErrNoDevice // the port is not there, or has no rate object
		}
		r.ports[vf].limitGbps = gbps
		return nil
	}
	return ErrNoDevice
}

// GuaranteeVF is "ip link set dev UPLINK vf VF min_tx_rate MBPS": what the VF can always send, in Gbit/s; 0 takes the guarantee away.
func (e *Engine) GuaranteeVF(h *Host, uplink string, vf int, gbps float64) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, r := range h.RNICs {
		if r.Netdev == uplink {
			return r.guarantee(vf, gbps, errors.New("Invalid argument")) //nolint:staticcheck // the kernel's words
		}
	}
	return ErrNoDevice
}

// GuaranteePort is "devlink port function rate set pci/ADDRESS/PORT tx_share RATE": the same scheduler as GuaranteeVF sets.
func (e *Engine) GuaranteePort(h *Host, pci string, port int, gbps float64) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, r := range h.RNICs {
		if r.PCI == pci {
			return r.guarantee(port-PortOfVF(0), gbps, ErrNoDevice)
		}
	}
	return ErrNoDevice
}

// guarantee sets what a VF can always send; absent is the answer where there is no such VF.
func (r *RNIC) guarantee(vf int, gbps float64, absent error) error {
	if vf < 0 || vf >= len(r.VFs) || gbps < 0 {
		return absent
	}
	if limit := r.ports[vf].limitGbps; limit > 0 && gbps > limit {
		return errors.New("Invalid argument") //nolint:staticcheck // the kernel's words
	}
	r.ports[vf].guaranteedGbps = gbps
	return nil
}

// VFGuaranteeGbps is what a VF can always send, 0 without a guarantee.
func (r *RNIC) VFGuaranteeGbps(vf int) float64 { return r.ports[vf].guaranteedGbps }

// VFLimitGbps is what a VF may send, 0 without a limit.
func (r *RNIC) VFLimitGbps(vf int) float64 { return r.ports[vf].limitGbps }

// Purge is "revalidator/purge": Open vSwitch deletes all flows of the datapath, and offloads again the flows of packets that arrive.
func (e *Engine) Purge(h *Host) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, entry := range h.copies {
		entry.copy = nil
		h.Switch.Deleted++
	}
	h.copies = nil
	for _, r := range h.RNICs {
		for _, entry := range r.entries {
			if entry.state == installed {
				h.Switch.Deleted++
				r.submit(entry, deleteEntry, e.now)
			}
		}
	}
}

// SetFlowLimit is "upcall/set-flow-limit".
func (e *Engine) SetFlowLimit(h *Host, limit int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	h.Switch.FlowLimit = limit
}

// mayOffload reports whether the port that the entry's packets come from allows it.
func (e *Entry) mayOffload() bool {
	return e.dir != Egress || !e.rnic.ports[e.conn.src.VF].off
}

// limited is the part of its demand that a connection may send under the limits of its VF and of the VF's group.
func (c *connection) limited() float64 {
	if c.src.RNIC == nil {
		return 1
	}
	limit, part := c.src.RNIC.ports[c.src.VF].limitGbps, 1.0
	if asked := c.src.RNIC.asked[c.src.VF]; limit > 0 && asked > limit {
		part = limit / asked
	}
	return part * c.src.RNIC.groupPart(c.src.VF)
}

// addDemand adds up what each VF would like to send.
func (e *Engine) addDemand(now time.Duration) {
	for _, r := range e.rnics {
		clear(r.asked)
	}
	for _, c := range e.connections {
		if r := c.src.RNIC; r != nil && !c.ended && !c.resting(now) {
			r.asked[c.src.VF] += c.demandGbps
		}
	}
}
