package engine

import (
	"fmt"
	"time"
)

// Message is one record of a host's kernel log.
type Message struct {
	Boot      int           // number of the boot, from 1; a greater one than before means that the host has started again
	SinceBoot time.Duration // as the kernel stamps it
	Level     int           // 0 (emergency) to 7 (debug)
	Text      string
	Panic     bool // the kernel died with it, so it is in the persistent store after the next boot
}

const (
	levelEmergency = 0
	levelAlert     = 1
	levelError     = 3
	levelWarning   = 4
	levelInfo      = 6

	kernelVersion = "6.8.0"
	handlerPID    = 2211 // of ovs-vswitchd's thread that offloads flows
)

func (h *Host) log(sinceBoot time.Duration, level int, text string) {
	h.Messages = append(h.Messages, Message{Boot: h.boot, SinceBoot: sinceBoot, Level: level, Text: text})
}

// bootOffset is how long a host had been up when it booted, in the simulator's view: what it says at boot takes some seconds.
const bootOffset = 5 * time.Second

func (h *Host) logNow(now time.Duration, level int, text string) {
	h.log(now-h.bootedAt+bootOffset, level, text)
}

// log writes a message of the card's driver.
func (r *RNIC) log(now time.Duration, level int, text string) {
	r.Host.logNow(now, level, fmt.Sprintf("%s %s: %s", r.Model.Driver, r.PCI, text))
}

// logPort writes a message of the PCIe port above the card.
func (r *RNIC) logPort(now time.Duration, level int, text string) {
	r.Host.logNow(now, level, fmt.Sprintf("pcieport 0000:%02x:00.0: %s", r.bus()-1, text))
}

// offloadStack is the way of a flow from Open vSwitch's netlink message into the driver's command interface, innermost first.
func offloadStack(driver string) []string {
	generic := []string{"tc_setup_cb_add+0x1d4/0x280", "fl_hw_replace_filter+0x1a2/0x260 [cls_flower]", "fl_change+0x9c1/0x12f0 [cls_flower]",
		"tc_new_tfilter+0x3f0/0x9e0", "rtnetlink_rcv_msg+0x15c/0x420", "netlink_rcv_skb+0x5b/0x110", "netlink_unicast+0x1a3/0x290",
		"netlink_sendmsg+0x22e/0x4b0", "____sys_sendmsg+0x37f/0x3c0", "___sys_sendmsg+0x9a/0xf0", "do_syscall_64+0x5c/0x90"}
	if driver == iceDriver {
		return append([]string{"ice_sq_send_cmd+0x2a1/0x4f0 [ice]", "ice_aq_send_cmd+0x6c/0x190 [ice]", "ice_aq_sw_rules+0x8e/0x100 [ice]",
			"ice_add_adv_rule+0x7c3/0xd60 [ice]", "ice_eswitch_add_tc_fltr+0x2f1/0x480 [ice]", "ice_add_cls_flower+0x61a/0x1040 [ice]"}, generic...)
	}
	return append([]string{"cmd_exec+0x3d7/0x9d0 [mlx5_core]", "mlx5_cmd_do+0x25/0x50 [mlx5_core]", "mlx5_cmd_create_fte+0x1c/0x30 [mlx5_core]",
		"add_rule_fte+0x23b/0x590 [mlx5_core]", "_mlx5_add_flow_rules+0x2f6/0x9b0 [mlx5_core]", "mlx5_eswitch_add_offloaded_rule+0x3e8/0x740 [mlx5_core]",
		"mlx5e_tc_add_fdb_flow+0x2c5/0x4e0 [mlx5_core]", "mlx5e_configure_flower+0x5f2/0x1380 [mlx5_core]"}, generic...)
}

func (h *Host) logStack(now time.Duration, level int, guesses, frames []string) {
	h.logNow(now, level, "Call Trace:")
	h.logNow(now, level, " <TASK>")
	for _, f := range guesses {
		h.logNow(now, level, " ? "+f)
	}
	for _, f := range frames {
		h.logNow(now, level, " "+f)
	}
	h.logNow(now, level, " </TASK>")
}

// stalling is the card whose driver holds the CPU.
func (h *Host) stalling() *RNIC {
	for _, r := range h.RNICs {
		if r.stalledHost {
			return r
		}
	}
	return h.RNICs[0]
}

func (h *Host) logLockup(now time.Duration) {
	frames := offloadStack(h.stalling().Model.Driver)
	h.logNow(now, levelEmergency, fmt.Sprintf("watchdog: BUG: soft lockup - CPU#12 stuck for %.0fs! [handler14:%d]", lockupAfter.Seconds(), handlerPID))
	h.logNow(now, levelWarning, fmt.Sprintf("CPU: 12 PID: %d Comm: handler14 Not tainted %s #1", handlerPID, kernelVersion))
	h.logNow(now, levelWarning, "RIP: 0010:"+frames[0])
	h.logStack(now, levelWarning, []string{"watchdog_timer_fn+0x1b3/0x220", "__hrtimer_run_queues+0x113/0x280"}, frames)
}

func (h *Host) logOops(r *RNIC, now time.Duration) {
	first := len(h.Messages)
	h.logNow(now, levelAlert, "BUG: kernel NULL pointer dereference, address: 0000000000000018")
	h.logNow(now, levelAlert, "#PF: supervisor read access in kernel mode")
	h.logNow(now, levelWarning, "Oops: 0000 [#1] PREEMPT SMP NOPTI")
	h.logNow(now, levelWarning, fmt.Sprintf("CPU: 7 PID: %d Comm: handler14 Not tainted %s #1", handlerPID, kernelVersion))
	h.logNow(now, levelWarning, "RIP: 0010:"+r.freedFunction())
	h.logStack(now, levelWarning, []string{"__die_body.cold+0x8/0x12", "page_fault_oops+0x15d/0x2f0"}, r.creationFrames())
	h.logNow(now, levelEmergency, "Kernel panic - not syncing: Fatal exception")
	for i := range h.Messages[first:] {
		h.Messages[first+i].Panic = true
	}
}
