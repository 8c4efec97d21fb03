package engine

import (
	"fmt"
	"time"
)

// What the two drivers say to the kernel log, in the words of Linux 6.8. mlx5: drivers/net/ethernet/mellanox/mlx5/core/{main,cmd,health,eswitch}.c;
// ice: drivers/net/ethernet/intel/ice/{ice_main,ice_controlq,ice_eswitch}.c. Where a driver says nothing, nothing is logged.

const (
	mlx5Driver = "mlx5_core"
	iceDriver  = "ice"
)

func (r *RNIC) ice() bool { return r.Model.Driver == iceDriver }

// logNetdev writes a message of the driver about its network device.
func (r *RNIC) logNetdev(now time.Duration, text string) {
	r.Host.logNow(now, levelInfo, fmt.Sprintf("%s %s %s: %s", r.Model.Driver, r.PCI, r.Netdev, text))
}

func (r *RNIC) logBoot() {
	say := func(after time.Duration, text string) {
		r.Host.log(after, levelInfo, fmt.Sprintf("%s %s: %s", r.Model.Driver, r.PCI, text))
	}
	if r.ice() {
		say(2*time.Second, "The DDP package was successfully loaded: ICE OS Default Package version 1.3.36.0")
		say(3*time.Second, fmt.Sprintf("PF %d changed eswitch mode to switchdev", r.Index))
		return
	}
	say(2*time.Second, "firmware version: "+r.Firmware())
	say(3*time.Second, fmt.Sprintf("E-Switch: Enable: mode(OFFLOADS), nvfs(%d)", len(r.VFs)))
}

func (r *RNIC) logCarrier(now time.Duration, up bool) {
	switch {
	case r.ice() && up:
		r.logNetdev(now, fmt.Sprintf("NIC Link is up %.0f Gbps Full Duplex, Requested FEC: RS-FEC, Negotiated FEC: RS-FEC, Autoneg Advertised: On, Autoneg Negotiated: True, Flow Control: None", r.Model.LineGbps))
	case r.ice():
		r.logNetdev(now, "NIC Link is Down")
	case up:
		r.logNetdev(now, "Link up")
	default:
		r.logNetdev(now, "Link down")
	}
}

var operationNames = map[commandKind]string{insertEntry: "SET_FLOW_TABLE_ENTRY(0x936)", restoreEntry: "SET_FLOW_TABLE_ENTRY(0x936)", deleteEntry: "DELETE_FLOW_TABLE_ENTRY(0x938)"}

// logTimeout is said of a command that was given up. ice says it with its debug messages of the control queue switched on.
func (r *RNIC) logTimeout(now time.Duration, kind commandKind, slot int) {
	if r.ice() {
		r.log(now, levelError, "Control Send Queue Writeback timeout.")
		return
	}
	r.log(now, levelWarning, fmt.Sprintf("wait_func_handle_exec_timeout:1162:(pid %d): cmd[%d]: %s No done completion", handlerPID, slot, operationNames[kind]))
	r.log(now, levelError, fmt.Sprintf("wait_func:1190:(pid %d): %s timeout. Will cause a leak of a command resource", handlerPID, operationNames[kind]))
}

// logRefusal is said of an entry that the card refused; ice tells only who asked for it.
func (r *RNIC) logRefusal(now time.Duration) {
	if !r.ice() {
		r.log(now, levelError, fmt.Sprintf("mlx5_cmd_out_err:838:(pid %d): %s op_mod(0x0) failed, status limits exceeded(0x8), syndrome (0x1c3a2f), err(-12)", handlerPID, operationNames[insertEntry]))
	}
}

// logUnhealthy is said when the driver finds out that the firmware has stopped: mlx5 by its health counter, ice by packets that do not leave.
func (r *RNIC) logUnhealthy(now time.Duration) {
	if r.ice() {
		r.logNetdev(now, "tx_timeout: VSI_num: 6, Q 12, NTC: 0x1a, HW_HEAD: 0x1c, NTU: 0x1c, INT: 0x0")
		r.logNetdev(now, "tx_timeout recovery level 1, txqueue 12")
		return
	}
	r.log(now, levelError, "poll_health:823:(pid 0): device's health compromised - reached miss count")
}

// logReset is said before and after the card's reset.
func (r *RNIC) logReset(now time.Duration) {
	if r.ice() {
		r.logNetdev(now, "tx_timeout recovery level 2, txqueue 12")
		return
	}
	r.log(now, levelError, "mlx5_health_try_recover:375:(pid 418): handling bad device here")
	r.log(now, levelWarning, "mlx5_health_try_recover:388:(pid 418): health recovery succeeded")
}

// logLinkError is what the driver says when the PCIe link is gone; ice leaves that to the kernel's own messages.
func (r *RNIC) logLinkError(now time.Duration) {
	if !r.ice() {
		r.log(now, levelError, "mlx5_pci_err_detected Device state = 1 health sensors: 1 pci_status: 1. Enter, pci channel state = 2")
	}
}

// freedFunction is where the driver dereferences what it never got.
func (r *RNIC) freedFunction() string {
	if r.ice() {
		return "ice_rem_adv_rule+0x2c/0x4a0 [ice]"
	}
	return "mlx5_del_flow_rules+0x14/0x2c0 [mlx5_core]"
}

// creationFrames are those of offloadStack that were left when the card had refused the entry.
func (r *RNIC) creationFrames() []string {
	if r.ice() {
		return offloadStack(iceDriver)[3:]
	}
	return offloadStack(mlx5Driver)[5:]
}
