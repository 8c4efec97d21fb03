// Package driverlog is what the two drivers and the kernel write to the kernel log, in the words of Linux 6.8. mlx5:
// drivers/net/ethernet/mellanox/mlx5/core/{main,cmd,health,eswitch}.c; ice: drivers/net/ethernet/intel/ice/{ice_main,ice_controlq,ice_eswitch}.c.
// Where a driver writes nothing, no line is returned.
package driverlog

import (
	"fmt"
	"time"
)

// The drivers.
const (
	MLX5 = "mlx5_core"
	ICE  = "ice"
)

// Levels of the kernel log.
const (
	Emergency = 0
	Alert     = 1
	Error     = 3
	Warning   = 4
	Info      = 6
)

// KernelVersion is that of every simulated host.
const KernelVersion = "6.8.0"

// handlerPID is that of ovs-vswitchd's thread that offloads flows.
const handlerPID = 2211

// MaxRepeats is how often per second the kernel repeats a message.
const MaxRepeats = 5

// Line is one message.
type Line struct {
	Level int
	Text  string
}

// Card names an RNIC as its driver does.
type Card struct{ Driver, PCI, Netdev string }

func (c Card) ice() bool { return c.Driver == ICE }

// Say is a message of the driver about the card.
func (c Card) Say(level int, text string) Line {
	return Line{level, fmt.Sprintf("%s %s: %s", c.Driver, c.PCI, text)}
}

func (c Card) netdev(text string) Line {
	return Line{Info, fmt.Sprintf("%s %s %s: %s", c.Driver, c.PCI, c.Netdev, text)}
}

// Boot is what the driver writes when it is loaded, by the time since boot.
func (c Card) Boot(function int, firmware string, vfs int) map[time.Duration]Line {
	if c.ice() {
		return map[time.Duration]Line{
			2 * time.Second: c.Say(Info, "The DDP package was successfully loaded: ICE OS Default Package version 1.3.36.0"),
			3 * time.Second: c.Say(Info, fmt.Sprintf("PF %d changed eswitch mode to switchdev", function)),
		}
	}
	return map[time.Duration]Line{
		2 * time.Second: c.Say(Info, "firmware version: "+firmware),
		3 * time.Second: c.Say(Info, fmt.Sprintf("E-Switch: Enable: mode(OFFLOADS), nvfs(%d)", vfs)),
	}
}

// Carrier follows a change of the port's link.
func (c Card) Carrier(up bool, lineGbps float64) Line {
	switch {
	case c.ice() && up:
		return c.netdev(fmt.Sprintf("NIC Link is up %.0f Gbps Full Duplex, Requested FEC: RS-FEC, Negotiated FEC: RS-FEC, Autoneg Advertised: On, "+
			"Autoneg Negotiated: True, Flow Control: None", lineGbps))
	case c.ice():
		return c.netdev("NIC Link is Down")
	case up:
		return c.netdev("Link up")
	}
	return c.netdev("Link down")
}

// Command is one that the driver gives the firmware.
type Command string

// The commands, by mlx5's names.
const (
	SetFlowTableEntry    Command = "SET_FLOW_TABLE_ENTRY(0x936)"
	DeleteFlowTableEntry Command = "DELETE_FLOW_TABLE_ENTRY(0x938)"
)

// Timeout follows a command that the driver gave up. ice logs it with the debug messages of its control queue switched on.
func (c Card) Timeout(command Command, slot int) []Line {
	if c.ice() {
		return []Line{c.Say(Error, "Control Send Queue Writeback timeout.")}
	}
	return []Line{
		c.Say(Warning, fmt.Sprintf("wait_func_handle_exec_timeout:1162:(pid %d): cmd[%d]: %s No done completion", handlerPID, slot, command)),
		c.Say(Error, fmt.Sprintf("wait_func:1190:(pid %d): %s timeout. Will cause a leak of a command resource", handlerPID, command)),
	}
}

// Refusal follows an entry that the card refused; ice reports it to the caller only.
func (c Card) Refusal() []Line {
	if c.ice() {
		return nil
	}
	return []Line{c.Say(Error, fmt.Sprintf("mlx5_cmd_out_err:838:(pid %d): %s op_mod(0x0) failed, status limits exceeded(0x8), syndrome (0x1c3a2f), err(-12)",
		handlerPID, SetFlowTableEntry))}
}

// Unhealthy follows the driver's detection that the firmware has stopped: mlx5 by its health counter, ice by packets that do not leave.
func (c Card) Unhealthy() []Line {
	if c.ice() {
		return []Line{
			c.netdev("tx_timeout: VSI_num: 6, Q 12, NTC: 0x1a, HW_HEAD: 0x1c, NTU: 0x1c, INT: 0x0"),
			c.netdev("tx_timeout recovery level 1, txqueue 12"),
		}
	}
	return []Line{c.Say(Error, "poll_health:823:(pid 0): device's health compromised - reached miss count")}
}

// Reset is written before and after the card's reset.
func (c Card) Reset() []Line {
	if c.ice() {
		return []Line{c.netdev("tx_timeout recovery level 2, txqueue 12")}
	}
	return []Line{
		c.Say(Error, "mlx5_health_try_recover:375:(pid 418): handling bad device here"),
		c.Say(Warning, "mlx5_health_try_recover:388:(pid 418): health recovery succeeded"),
	}
}

// LinkError is what the driver writes when the PCIe link is gone; ice leaves that to the kernel's own messages.
func (c Card) LinkError() []Line {
	if c.ice() {
		return nil
	}
	return []Line{c.Say(Error, "mlx5_pci_err_detected Device state = 1 health sensors: 1 pci_status: 1. Enter, pci channel state = 2")}
}

// offloadStack is the way of a flow from Open vSwitch's netlink message into the driver's command interface, innermost first.
func (c Card) offloadStack() []string {
	generic := []string{"tc_setup_cb_add+0x1d4/0x280", "fl_hw_replace_filter+0x1a2/0x260 [cls_flower]", "fl_change+0x9c1/0x12f0 [cls_flower]",
		"tc_new_tfilter+0x3f0/0x9e0", "rtnetlink_rcv_msg+0x15c/0x420", "netlink_rcv_skb+0x5b/0x110", "netlink_unicast+0x1a3/0x290",
		"netlink_sendmsg+0x22e/0x4b0", "____sys_sendmsg+0x37f/0x3c0", "___sys_sendmsg+0x9a/0xf0", "do_syscall_64+0x5c/0x90"}
	if c.ice() {
		return append([]string{"ice_sq_send_cmd+0x2a1/0x4f0 [ice]", "ice_aq_send_cmd+0x6c/0x190 [ice]", "ice_aq_sw_rules+0x8e/0x100 [ice]",
			"ice_add_adv_rule+0x7c3/0xd60 [ice]", "ice_eswitch_add_tc_fltr+0x2f1/0x480 [ice]", "ice_add_cls_flower+0x61a/0x1040 [ice]"}, generic...)
	}
	return append([]string{"cmd_exec+0x3d7/0x9d0 [mlx5_core]", "mlx5_cmd_do+0x25/0x50 [mlx5_core]", "mlx5_cmd_create_fte+0x1c/0x30 [mlx5_core]",
		"add_rule_fte+0x23b/0x590 [mlx5_core]", "_mlx5_add_flow_rules+0x2f6/0x9b0 [mlx5_core]", "mlx5_eswitch_add_offloaded_rule+0x3e8/0x740 [mlx5_core]",
		"mlx5e_tc_add_fdb_flow+0x2c5/0x4e0 [mlx5_core]", "mlx5e_configure_flower+0x5f2/0x1380 [mlx5_core]"}, generic...)
}

// creationFrames are those of offloadStack that are left when the card has refused the entry.
func (c Card) creationFrames() []string {
	if c.ice() {
		return c.offloadStack()[3:]
	}
	return c.offloadStack()[5:]
}

// freedFunction is where the driver dereferences what it never got.
func (c Card) freedFunction() string {
	if c.ice() {
		return "ice_rem_adv_rule+0x2c/0x4a0 [ice]"
	}
	return "mlx5_del_flow_rules+0x14/0x2c0 [mlx5_core]"
}

func stack(guesses, frames []string) []Line {
	lines := []Line{{Warning, "Call Trace:"}, {Warning, " <TASK>"}}
	for _, guess := range guesses {
		lines = append(lines, Line{Warning, " ? " + guess})
	}
	for _, frame := range frames {
		lines = append(lines, Line{Warning, " " + frame})
	}
	return append(lines, Line{Warning, " </TASK>"})
}

// Lockup is what the kernel's watchdog writes about a CPU on which the driver has not scheduled for so long.
func (c Card) Lockup(stuck time.Duration) []Line {
	frames := c.offloadStack()
	lines := []Line{
		{Emergency, fmt.Sprintf("watchdog: BUG: soft lockup - CPU#12 stuck for %.0fs! [handler14:%d]", stuck.Seconds(), handlerPID)},
		{Warning, fmt.Sprintf("CPU: 12 PID: %d Comm: handler14 Not tainted %s #1", handlerPID, KernelVersion)},
		{Warning, "RIP: 0010:" + frames[0]},
	}
	return append(lines, stack([]string{"watchdog_timer_fn+0x1b3/0x220", "__hrtimer_run_queues+0x113/0x280"}, frames)...)
}

// Oops is what the kernel writes when the driver crashes it.
func (c Card) Oops() []Line {
	lines := []Line{
		{Alert, "BUG: kernel NULL pointer dereference, address: 0000000000000018"},
		{Alert, "#PF: supervisor read access in kernel mode"},
		{Warning, "Oops: 0000 [#1] PREEMPT SMP NOPTI"},
		{Warning, fmt.Sprintf("CPU: 7 PID: %d Comm: handler14 Not tainted %s #1", handlerPID, KernelVersion)},
		{Warning, "RIP: 0010:" + c.freedFunction()},
	}
	lines = append(lines, stack([]string{"__die_body.cold+0x8/0x12", "page_fault_oops+0x15d/0x2f0"}, c.creationFrames())...)
	return append(lines, Line{Emergency, "Kernel panic - not syncing: Fatal exception"})
}
