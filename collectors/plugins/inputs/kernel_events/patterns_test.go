package kernel_events

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wallwatch/wallwatch/collectors/internal/kmsg"
	"github.com/wallwatch/wallwatch/collectors/internal/plugintest"
)

func loaded(t testing.TB) *table {
	t.Helper()
	patterns, err := loadPatterns()
	if err != nil {
		t.Fatal(err)
	}
	return patterns
}

func TestEachExampleMatchesItsOwnPatternAndNoOther(t *testing.T) {
	patterns := loaded(t).Patterns
	for _, own := range patterns {
		for _, p := range patterns {
			if found := p.find(own.Example) != nil; found != (p == own) {
				t.Errorf("pattern %s and the example of %s: match is %v", p.ID, own.ID, found)
			}
		}
	}
}

func TestEachPatternIsWhole(t *testing.T) {
	seen := make(map[string]bool)
	kinds := plugintest.Registry(t)["event"].Tags["kind"]
	for _, p := range loaded(t).Patterns {
		if p.ID == "" || p.Origin == "" || p.Example == "" || seen[p.ID] || p.From != "" && p.From != "userspace" {
			t.Errorf("the pattern %+v lacks something or is there twice", p)
		}
		seen[p.ID] = true
		if !strings.Contains(kinds.Meaning, p.Class) {
			t.Errorf("%s: the registry does not know the kind %q", p.ID, p.Class)
		}
		if strings.Contains(p.expression.String(), "{p") || strings.Contains(p.expression.String(), "{m") {
			t.Errorf("%s: a macro was not expanded: %s", p.ID, p.expression)
		}
	}
	for _, kind := range []string{HostBooted, KernelLogLost} {
		if !strings.Contains(kinds.Meaning, kind) {
			t.Errorf("the registry does not know the kind %q", kind)
		}
	}
}

func TestOtherWordingsAreKnownToo(t *testing.T) {
	patterns := loaded(t)
	for text, want := range map[string]string{
		"mlx5_core 0000:01:00.0: CREATE_MKEY(0x200) timeout. Will cause a leak of a command resource":                        "mlx5-command-timeout",
		"mlx5_core 0000:01:00.0 ens1f0: cmd[3]: CREATE_MKEY(0x200) Async, recovered after timeout":                           "mlx5-command-recovered",
		"mlx5_core 0000:17:00.0: print_health_info:520:(pid 0): synd 0x10: High temperature":                                 "mlx5-health-syndrome",
		"mlx5_core 0000:17:00.0: print_health_info:520:(pid 0): synd 0x0: unrecognized error":                                "",
		"mlx5_core 0000:17:00.0: mlx5_cmd_check:810:(pid 7): CREATE_FLOW_GROUP(0x933) op_mod(0x0) failed, status bad":        "mlx5-command-failed",
		"mlx5_core 0000:5c:00.0: port_module_event:1131:(pid 0): Port module event[error]: module 0, Cable error, Shorted":   "mlx5-port-module",
		"mlx5_core 0000:5c:00.0: Port module event: module 0, Cable unplugged":                                               "",
		"BUG: soft lockup - CPU#3 stuck for 22s! [ovs-vswitchd:9]":                                                           "soft-lockup",
		"BUG: unable to handle kernel NULL pointer dereference at 0000000000000014":                                          "oops-null-pointer",
		"Unable to handle kernel NULL pointer dereference at virtual address 0000000000000010":                               "oops-null-pointer",
		"Unable to handle kernel paging request at virtual address dead000000000108":                                         "oops-paging",
		"Oops: general protection fault, probably for non-canonical address 0xdead000000000108: 0000 [#1] SMP":               "oops-protection-fault",
		"INFO: task kworker/u64:3:812 <writer> blocked for more than 245 seconds.":                                           "hung-task",
		"pcieport 0000:16:01.0: pciehp: Slot(17): Link Down/Up ignored (recovered by DPC)":                                   "",
		"pcieport 0000:16:01.0: pciehp: Slot(17): Card not present":                                                          "pcie-slot-link-down",
		"pcieport 0000:00:1b.2: AER: Correctable error message received from 0000:03:04.0":                                   "aer-port",
		"pcieport 0000:00:01.0: PCIe Bus Error: severity=Uncorrected (Fatal), type=Transaction Layer, id=0008(Requester ID)": "aer-device",
		"INFO: rcu_sched self-detected stall on CPU":                                                                         "rcu-stall",
		"INFO: rcu_sched self-detected stall on CPU { 12}  (t=60001 jiffies g=1 c=0 q=9)":                                    "rcu-stall",
		"INFO: rcu_sched detected stalls on CPUs/tasks: { 12} (detected by 4, t=60002 jiffies)":                              "rcu-stall",
		"rcu: INFO: rcu_sched detected stalls on CPUs/tasks:":                                                                "rcu-stall",
		"rcu: INFO: rcu_preempt detected expedited stalls on CPUs/tasks: { 13-.... } 32 jiffies s: 6685 root: 0x1/.":         "rcu-stall",
		"rcu: INFO: rcu_preempt detected expedited stalls, but suppressed full report due to a stuck CSD-lock.":              "rcu-stall",
		"rcu: INFO: rcu_preempt detected stalls, but suppressed full report due to a stuck CSD-lock.":                        "rcu-stall",
		"rcu: INFO: Stall ended before state dump start":                                                                     "",
		"NMI watchdog: Watchdog detected hard LOCKUP on cpu 0":                                                               "hard-lockup",
		"watchdog: CPU3: Watchdog detected hard LOCKUP on cpu 3":                                                             "hard-lockup",
		"Watchdog detected hard LOCKUP on cpu 7":                                                                             "hard-lockup",
		"watchdog: Delayed watchdog on cpu 7":                                                                                "",
		"bnxt_en 0000:45:00.0 eth0: Error (timeout: 2000055) msg {0xff 0x1b2} len:8 v:0":                                     "bnxt-command-timeout",
		"bnxt_en 0000:45:00.0 (unnamed net_device) (uninitialized): Error (timeout: 500000) msg {0x0 0x0} len:0":             "bnxt-command-timeout",
		"bnxt_en 0000:45:00.0 eth0: Resp cmpl intr abandoning msg: 0x104 due to firmware status: 0x8401":                     "bnxt-command-abandoned",
		"bnxt_en 0000:45:00.0: QPLIB: cmdq[0x1af]=0x15 timedout (20000)msec":                                                 "bnxt-rdma-command-timeout",
		"bnxt_en 0000:45:00.0 eth0: Firmware fatal reset event, data1: 0x2, data2: 0x0, min wait 2000 ms, max wait 30000 ms": "bnxt-firmware-fatal",
		"bnxt_en 0000:45:00.0 eth0: Detected firmware fatal condition, initiating reset":                                     "bnxt-firmware-fatal",
		"bnxt_en 0000:45:00.0 eth0: Solicited firmware reset event, data1: 0x3, data2: 0x0, min wait 2000 ms, max wait 9 ms": "",
		"bnxt_en 0000:45:00.0 eth0: Firmware reset aborted":                                                                  "bnxt-reset-aborted",
		"bnxt_en 0000:45:00.0 eth0: Chip temperature has gone below the critical thermal threshold!":                         "",
		"bnxt_en 0000:45:00.0 eth0: NETDEV WATCHDOG: CPU: 2: transmit queue 1 timed out 5123 ms":                             "watchdog-transmit-device",
		"NETDEV WATCHDOG: eth0 (bnxt_en): transmit queue 1 timed out 5123 ms":                                                "watchdog-transmit",
		"NETDEV WATCHDOG: eth0 (e1000e): transmit queue 0 timed out":                                                         "",
		"mlx5_core 0000:17:00.0: firmware version: 22.35.2000":                                                               "",
	} {
		id := ""
		if found := patterns.find(kmsg.Record{Text: text}); found != nil {
			id = found.ID
		}
		if id != want {
			t.Errorf("%q matches %q, want %q", text, id, want)
		}
	}
}

func TestAProgramCannotImitateTheKernel(t *testing.T) {
	patterns := loaded(t)
	if found := patterns.find(kmsg.Record{Facility: 1, Text: "Kernel panic - not syncing: not really"}); found != nil {
		t.Errorf("a program's line matches %s", found.ID)
	}
	if found := patterns.find(kmsg.Record{Text: "systemd-shutdown[1]: Rebooting."}); found != nil {
		t.Errorf("the kernel's line matches %s", found.ID)
	}
}

func TestCapturedLinesOfMlx5AreAllKnown(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(plugintest.ExternalData(t), "captures", "kmsg", "mlx5.txt"))
	if err != nil {
		t.Fatal(err)
	}
	patterns, seen := loaded(t), 0
	for text := range strings.Lines(string(content)) {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		seen++
		if patterns.find(kmsg.Record{Text: text}) == nil {
			t.Errorf("no pattern matches %q", text)
		}
	}
	if seen < 6 {
		t.Errorf("only %d lines were read", seen)
	}
}
