"""The paper's setups as scenarios (PicNIC, section 6.1). Three hosts with NICs of 20 Gbit/s; envelopes of 4 to 12 Gbit/s."""

from wallwatch.domain.isolation.shares.vm_pairs import Vm
from wallwatch.domain.isolation.simulation.egress import Completions, EgressFlow, EgressSettings
from wallwatch.domain.isolation.simulation.pccp import STEADY, PccpParameters
from wallwatch.domain.isolation.simulation.scenario import Control, Demand, Mechanisms, Scenario, Vf, Window

NICS = {"h1": 20, "h2": 20, "h3": 20}
VMS = {"A": Vm("h1", 4, 12), "B": Vm("h2", 4, 12), "C": Vm("h3", 4, 12), "D": Vm("h3", 4, 12)}
SEEDS = (1, 2, 3)

CWFQ = Mechanisms(cwfq=True, pccb=False, pccp=False)
CWFQ_PCCB = Mechanisms(cwfq=True, pccb=True, pccp=False)
ALL = Mechanisms()


def vf(kpps: float, packet_bytes: int) -> Vf:
    """A VF that receives packets at this rate all the time."""
    return Vf(4000, 12_000, (Demand(0, kpps, packet_bytes),))


def extreme_overload(
    parameters: PccpParameters = STEADY, *, epoch_us: float = 5000, seed: int = 1, warmup_ms: float = 500, duration_ms: float = 1300
) -> Scenario:
    """Figure 10: C is flooded with packets of 100 bytes, D receives few."""
    control = Control(pccp_epoch_us=epoch_us, pccp=parameters)
    return Scenario({"C": vf(6000, 100), "D": vf(20, 100)}, ALL, duration_ms, warmup_ms, seed, control=control)


def two_floods_and_a_probe(
    mechanisms: Mechanisms, packet_bytes: int, *, threshold_us: float = 10, warmup_ms: float = 20, duration_ms: float = 80
) -> Scenario:
    """Figures 7c to 7e (256 bytes) and 11 (100 bytes): C and D are flooded with 3.25 million packets/s each, F gets 1000 probes/s."""
    parameters = PccpParameters(threshold_us, beta=STEADY.beta, increment=STEADY.increment)
    vfs = {"C": vf(3250, packet_bytes), "D": vf(3250, packet_bytes), "F": vf(1, packet_bytes)}
    return Scenario(vfs, mechanisms, duration_ms, warmup_ms, control=Control(pccp=parameters))


def overload(factor: float, mechanisms: Mechanisms) -> Scenario:
    """One VF brings `factor` times what the engine can process; another brings 2% of that."""
    kpps = 1595 * factor
    return Scenario({"C": vf(0.98 * kpps, 256), "D": vf(0.02 * kpps, 256)}, mechanisms, 120, 20)


def streams(few: int, many: int, mechanisms: Mechanisms, seed: int) -> Scenario:
    """Figure 8a: C and D receive a different number of parallel TCP streams."""
    vfs = {name: Vf(4000, 12_000, window=Window(count)) for name, count in (("C", few), ("D", many))}
    return Scenario(vfs, mechanisms, 120, 20, seed)


FAST = EgressFlow("A")
ALONE = EgressSettings({"AC": FAST})
NOISY_NEIGHBOUR = EgressSettings({"AC": FAST, "BD": EgressFlow("B", offered_kpps=600, limit_mbps=10)})
"""Figure 8b: B sends at any rate, and is shaped to 10 Mbit/s."""
OWN_SLOW_FLOW = {"AD": FAST, "AC": EgressFlow("A", offered_kpps=300, limit_mbps=10)}
"""Table 4: one VM with a fast and a shaped flow."""
EARLY = EgressSettings(OWN_SLOW_FLOW, Completions.EARLY, vf_cap=4000)
IN_ORDER = EgressSettings(OWN_SLOW_FLOW, Completions.IN_ORDER, guest_ring=256)
OUT_OF_ORDER = EgressSettings(OWN_SLOW_FLOW, flow_limit=50)
