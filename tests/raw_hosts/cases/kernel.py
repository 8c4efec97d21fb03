"""Kernels that stand still (S2) and crash (S3), and what only reads like it.

What is right: S2 where the driver waits for an operation of the RNIC that timed out and holds up the kernel (paper, section 3.2; C2),
whatever watchdog reports it. S3 where the kernel crashes in the driver's creation of a flow (C3); it can be known only after the next
boot. A kernel that hangs or dies of something else is neither.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from tests.raw_hosts.card import Card
from tests.raw_hosts.case import Case, Expected
from tests.raw_hosts.flow_text import shapes
from tests.raw_hosts.host import Host
from tests.raw_hosts.models import BCM57508, CX5, CX6, CX7, E810, Model
from tests.raw_hosts.releases import OVS_3_1
from tests.raw_hosts.traffic import busy

S2 = Expected("S2", causes=("C2",))
S3 = Expected("S3", causes=("C3",))

# Forms of a stack trace: arch/x86/kernel/dumpstack.c. Functions are those of the drivers' paths that create flows.
MLX5_STACK = (
    "RIP: 0010:ioread32be+0x2a/0x50",
    "Call Trace:",
    " <TASK>",
    " ? __die+0x23/0x70",
    " cmd_exec+0x5c5/0xa60 [mlx5_core]",
    " mlx5_cmd_do+0x22/0x60 [mlx5_core]",
    " mlx5_cmd_create_fte+0x1d4/0x5e0 [mlx5_core]",
    " add_rule_fg+0x2c1/0x9e0 [mlx5_core]",
    " mlx5e_tc_add_fdb_flow+0x1f0/0x400 [mlx5_core]",
    " tc_new_tfilter+0x3c9/0x9c0",
    " </TASK>",
)
OTHER_STACK = (
    "RIP: 0010:smp_call_function_many_cond+0x131/0x500",
    "Call Trace:",
    " <TASK>",
    " on_each_cpu_cond_mask+0x24/0x40",
    " ext4_sync_file+0x12/0x300 [ext4]",
    " </TASK>",
)
GUESSED_STACK = (
    "RIP: 0010:native_queued_spin_lock_slowpath+0x2a/0x2d0",
    "Call Trace:",
    " <TASK>",
    " ? mlx5e_napi_poll+0x12/0x700 [mlx5_core]",
    " nvme_queue_rq+0x71/0x2f0 [nvme]",
    " ? mlx5e_xmit+0x22/0x40 [mlx5_core]",
    " </TASK>",
)
ICE_STACK = (
    "RIP: 0010:ice_sq_send_cmd+0x1a3/0x5f0 [ice]",
    "Call Trace:",
    " <TASK>",
    " ice_aq_sw_rules+0x6b/0x120 [ice]",
    " ice_add_adv_rule+0x5a1/0xc80 [ice]",
    " ice_eswitch_add_tc_fltr+0x2d1/0x760 [ice]",
    " </TASK>",
)
BNXT_STACK = (
    "RIP: 0010:delay_tsc+0x3c/0x70",
    "Call Trace:",
    " <TASK>",
    " __hwrm_send+0x6e2/0xb60 [bnxt_en]",
    " bnxt_hwrm_cfa_flow_alloc+0x1f0/0x400 [bnxt_en]",
    " bnxt_tc_add_flow+0x411/0x9d0 [bnxt_en]",
    " </TASK>",
)


def command_timeout(card: Card, command: str = "SET_FLOW_TABLE_ENTRY(0x936)") -> str:
    """drivers/net/ethernet/mellanox/mlx5/core/cmd.c, wait_func."""
    return f"mlx5_core {card.pci}: wait_func:1190:(pid 2105): {command} timeout. Will cause a leak of a command resource"


def soft_lockup(seconds: int = 23, task: str = "handler7:2105", cpu: int = 12) -> str:
    """kernel/watchdog.c, watchdog_timer_fn."""
    return f"watchdog: BUG: soft lockup - CPU#{cpu} stuck for {seconds}s! [{task}]"


def _process(task: str = "handler7", pid: int = 2105, cpu: int = 12) -> str:
    return f"CPU: {cpu} PID: {pid} Comm: {task} Not tainted 6.8.0-40-generic #40-Ubuntu"


def _insertions(host: Host, card: Card, since: float, per_s: int, seconds: int) -> None:
    """New pods: flows come at a high rate, and stay."""
    host.every(1.0, since, since + seconds, lambda: host.flows(card, per_s, busy(60.0), shapes=shapes(4), installed=False))


def _stagnates(model: Model, at: float, words: Callable[[Host, Card], None], rush: bool = True, cards: int = 1) -> Callable[[Host], None]:
    """Flows are inserted about as fast as the driver can, an operation times out, and the kernel stands still for 25 s."""

    def make(host: Host) -> None:
        made = [host.add_card(model) for _ in range(cards)]
        card = made[-1]
        for one in made:
            host.flows(one, 900, busy(150.0), shapes=shapes(4))
        if rush:
            _insertions(host, card, at - 6, 950, 6)

        def stand_still() -> None:
            host.stalled = True
            host.table.stuck_until = at + 25

        def go_on() -> None:
            host.stalled = False

        host.at(at, stand_still)
        host.at(at + 25, go_on)
        host.at(at + 23, lambda: words(host, card))

    return make


def _soft(host: Host, card: Card) -> None:
    host.kernel.say(host.now, command_timeout(card))
    host.kernel.say(
        host.now + 0.2, soft_lockup(), "Modules linked in: act_mirred cls_flower mlx5_ib mlx5_core openvswitch", _process(), *MLX5_STACK
    )


def _rcu(host: Host, card: Card) -> None:
    # kernel/rcu/tree_stall.h, print_cpu_stall; the soft watchdog is off.
    host.kernel.say(host.now, command_timeout(card))
    host.kernel.say(
        host.now + 0.2,
        "rcu: INFO: rcu_sched self-detected stall on CPU",
        "rcu: \t12-....: (59999 ticks this GP) idle=6d4c/1/0x4000000000000000 softirq=8812/8812 fqs=14210",
        "rcu: \t(t=60000 jiffies g=91021 q=4411 ncpus=64)",
        _process(),
        *MLX5_STACK,
    )


def _hard(host: Host, card: Card) -> None:
    # kernel/watchdog.c, watchdog_hardlockup_check.
    host.kernel.say(host.now, command_timeout(card))
    host.kernel.say(
        host.now + 0.2,
        "watchdog: Watchdog detected hard LOCKUP on cpu 12",
        "Modules linked in: mlx5_ib mlx5_core openvswitch",
        _process(),
        *MLX5_STACK,
    )


def _hung(host: Host, card: Card) -> None:
    # kernel/hung_task.c, check_hung_task.
    host.kernel.say(host.now, command_timeout(card, "CREATE_FLOW_GROUP(0x933)"))
    host.kernel.say(
        host.now + 0.2,
        "INFO: task handler7:2105 blocked for more than 122 seconds.",
        "      Not tainted 6.8.0-40-generic #40-Ubuntu",
        '"echo 0 > /proc/sys/kernel/hung_task_timeout_secs" disables this message.',
        "task:handler7        state:D stack:0     pid:2105  tgid:2100  ppid:1      flags:0x00000002",
        *MLX5_STACK[1:],
    )


def _intel(host: Host, card: Card) -> None:
    host.kernel.say(host.now, f"ice {card.pci}: Control Send Queue Writeback timeout.", priority=3)
    host.kernel.say(host.now + 0.2, soft_lockup(), _process(), *ICE_STACK)


def _broadcom(host: Host, card: Card) -> None:
    host.kernel.say(host.now, f"bnxt_en {card.pci} {card.netdev}: Error (timeout: 500015) msg {{0x103 0x4b1}} len:0", priority=3)
    host.kernel.say(host.now + 0.2, soft_lockup(), _process(), *BNXT_STACK)


def _crash_texts(stack: Sequence[str]) -> list[str]:
    return [
        "BUG: kernel NULL pointer dereference, address: 0000000000000010",
        "#PF: supervisor read access in kernel mode",
        "Oops: 0000 [#1] PREEMPT SMP NOPTI",
        _process(),
        *stack,
        "---[ end trace 0000000000000000 ]---",
        "Kernel panic - not syncing: Fatal exception",
    ]


def _crashes(model: Model, at: float, texts: Sequence[str], failed_first: bool = True, keeps: bool = True) -> Callable[[Host], None]:
    """The kernel dies; the host is back after its firmware's start."""

    def make(host: Host) -> None:
        card = host.add_card(model)
        host.flows(card, 6_400, busy(120.0), shapes=shapes(4))

        def fail() -> None:
            host.kernel.say(
                host.now,
                f"mlx5_core {card.pci}: mlx5_cmd_out_err:838:(pid 2105): SET_FLOW_TABLE_ENTRY(0x936) op_mod(0x0) failed, "
                "status no resources(0xf), syndrome (0x305684), err(-12)",
                priority=3,
            )

        def die() -> None:
            host.collector_ends = "kill"
            if keeps:
                host.kernel.crash(at, texts)
            host.reboot(70.0)

        if failed_first:
            host.at(at - 1.5, fail)
        host.at(at, die)

    return make


def _says(model: Model, at: float, words: Callable[[Host, Card], None], number: int = 600) -> Callable[[Host], None]:
    """All is well; the log has some lines."""

    def make(host: Host) -> None:
        card = host.add_card(model)
        host.flows(card, number, busy(200.0), shapes=shapes(4))
        host.at(at, lambda: words(host, card))

    return make


def _forged(host: Host, card: Card) -> None:
    """Programs may write to /dev/kmsg: their records have a facility (Documentation/ABI/testing/dev-kmsg), 1 at least."""
    host.kernel.say(host.now, command_timeout(card), priority=(1 << 3) + 4)
    host.kernel.say(host.now, soft_lockup(), _process(), *MLX5_STACK, priority=(1 << 3) + 4)
    host.kernel.say(
        host.now,
        f"systemd[1]: mlx5_core {card.pci}: poll_health:823:(pid 0): device's health compromised - reached miss count",
        priority=30,
    )
    host.kernel.say(host.now, "BUG: kernel NULL pointer dereference, address: 0000000000000010", *MLX5_STACK, priority=(3 << 3) + 1)
    host.kernel.say(host.now, f"pcieport {card.upstream}: pciehp: Slot(3): Link Down", priority=(1 << 3) + 6)


def _disk_lockup(host: Host, card: Card) -> None:
    del card
    host.kernel.say(host.now, soft_lockup(task="fio:812"), _process("fio", 812), *OTHER_STACK)


def _guessed(host: Host, card: Card) -> None:
    del card
    host.kernel.say(host.now, soft_lockup(task="kworker/4:1H:655"), _process("kworker/4:1H", 655), *GUESSED_STACK)


def _failed_command(host: Host, card: Card) -> None:
    for second in range(6):
        host.kernel.say(
            host.now + second,
            f"mlx5_core {card.pci}: mlx5_cmd_out_err:838:(pid {3000 + second}): MODIFY_VPORT_STATE(0x751) op_mod(0x1) failed, "
            "status bad parameter(0x3), syndrome (0x0), err(-22)",
            priority=3,
        )


def _flooded(host: Host, card: Card) -> None:
    del card
    host.kernel.skip_numbers(4_000)
    host.kernel.say(host.now, *(f'audit: type=1400 audit(17400{i:05d}.123:{i}): apparmor="ALLOWED"' for i in range(300)), priority=6)


def cases() -> list[Case]:
    """All cases of this subject."""
    return [
        Case(
            "command time-out and soft lockup in mlx5 after many insertions",
            _stagnates(CX6, 40.0, _soft),
            (replace(S2, from_s=62.0),),
            length_s=150,
            seed=91,
        ),
        Case(
            "command time-out and RCU stall in mlx5, soft watchdog off",
            _stagnates(CX7, 40.0, _rcu),
            (replace(S2, from_s=62.0),),
            length_s=150,
            seed=92,
        ),
        Case(
            "command time-out and hard lockup in mlx5",
            _stagnates(CX5, 40.0, _hard),
            (replace(S2, from_s=62.0),),
            length_s=150,
            release=OVS_3_1,
            seed=93,
        ),
        Case(
            "hung handler thread in mlx5, 10 s",
            _stagnates(CX6, 60.0, _hung),
            (replace(S2, from_s=82.0),),
            interval_s=10,
            jitter_s=1,
            length_s=240,
            seed=94,
        ),
        Case(
            "stagnation of the second of two RNICs' drivers",
            _stagnates(CX6, 40.0, _soft, cards=2),
            (replace(S2, from_s=62.0),),
            length_s=150,
            seed=95,
        ),
        Case("soft lockup in ice", _stagnates(E810, 40.0, _intel), (replace(S2, from_s=62.0),), length_s=150, seed=96),
        Case("soft lockup in bnxt_en", _stagnates(BCM57508, 40.0, _broadcom), (replace(S2, from_s=62.0),), length_s=150, seed=97),
        Case(
            "soft lockup in mlx5 on a quiet host",
            _stagnates(CX6, 20.0, _soft, rush=False),
            (replace(S2, from_s=42.0),),
            length_s=80,
            seed=98,
            quick=True,
        ),
        Case(
            "crash in the creation of a flow, found in pstore",
            _crashes(CX6, 60.0, _crash_texts(MLX5_STACK)),
            (replace(S3, from_s=60.0, by_s=150),),
            ("S2",),
            length_s=240,
            seed=101,
        ),
        Case(
            "crash in the creation of a flow, 10 s",
            _crashes(CX7, 60.0, _crash_texts(MLX5_STACK), failed_first=False),
            (replace(S3, from_s=60.0, by_s=150),),
            ("S2",),
            interval_s=10,
            jitter_s=1,
            length_s=240,
            seed=102,
        ),
        Case("crash in a file system", _crashes(CX6, 60.0, _crash_texts(OTHER_STACK), failed_first=False), (), length_s=240, seed=103),
        Case(
            "crash on request (sysrq)",
            _crashes(CX6, 60.0, ["sysrq: Trigger a crash", "Kernel panic - not syncing: sysrq triggered crash"], failed_first=False),
            (),
            length_s=240,
            seed=104,
        ),
        Case("power cut", _crashes(CX6, 60.0, [], failed_first=False, keeps=False), (), length_s=240, seed=105),
        Case("forged kernel lines of a program", _says(CX6, 30.0, _forged), length_s=90, seed=106, quick=True),
        Case("soft lockup in a file system", _says(CX6, 30.0, _disk_lockup), length_s=90, seed=107),
        Case("soft lockup with guessed frames of mlx5 only", _says(CX6, 30.0, _guessed), length_s=90, seed=108),
        Case("commands that the firmware refuses", _says(CX6, 30.0, _failed_command), length_s=90, seed=109),
        Case("kernel log overwritten by a flood", _says(CX6, 30.0, _flooded), length_s=90, seed=110),
    ]
