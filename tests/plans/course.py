"""One run of a simulated fleet, with or without plans.

Dumps are read as the agent reads them, plans are made by the planner that ships, and their operations are typed at the simulated switches
at the plan's own pace, while time goes on.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.plans.fleet import Fleet, fleet

from wallwatch.domain.catalogue.load import profiles
from wallwatch.domain.masks.dump import Dump, read_dump, read_line
from wallwatch.domain.masks.grammar import MatchParser
from wallwatch.domain.masks.space import HeaderSpace
from wallwatch.domain.planning.effect import Expected
from wallwatch.domain.planning.plan import Plan, make_plan
from wallwatch.domain.planning.steps import Step
from wallwatch.domain.planning.warmup import likely, observations

STEP_S = 1.0
LOOK_S = 5.0
AT_A_TIME = 50
"""Operations that add exact entries or remove flows and are typed together."""
ROUNDS = 1
"""Plans that are made one after another each time."""
WARM_HISTORY_S = 10.0
"""How far apart the dumps are from which a warm-up learns."""


Past = tuple[float, str]
"""When a dump was read, and its text."""


@dataclass
class Applied:
    """A plan that was applied to one RNIC, with its expected and actual effect."""

    host: str
    model: str
    at_s: float
    operations: int
    took_s: float
    refused: dict[str, int]
    """Answers of the switch that were errors, with how often: what it did by itself meanwhile."""
    expected_before: dict[str, float]
    expected_after: dict[str, float]
    expected_low: dict[str, float]
    expected_high: dict[str, float]
    hyper_used: int
    hyper_present: int
    likely: int
    """Flows that the mixture expects."""
    warmed: int
    """Entries for them: those that a rule of the dump decides, so that they are proven."""
    in_software: int
    newcomers: int
    """Flows that came after the plan was made and were moved with their masks."""
    longest_in_software_s: float
    proof_ms: float
    plan_ms: float
    missed: float = 0.0
    """Packets that missed at the host while the plan was applied."""


@dataclass
class Course:
    """What was seen: samples of all hosts, and plans."""

    samples: list[dict[str, Any]] = field(default_factory=list)
    plans: list[Applied] = field(default_factory=list)
    offered: int = 0
    not_worthwhile: int = 0

    def mean(self, host: str, side: str, name: str, since_s: float, until_s: float) -> float:
        """Mean of a figure of one RNIC over a time window."""
        found = [one["hosts"][host]["rnics"][0][side][name] for one in self.samples if since_s < one["at_s"] <= until_s]
        return float(sum(found) / len(found))

    def count(self, host: str, name: str, since_s: float, until_s: float) -> float:
        """How much a counter of the host's switch has grown in a window of time."""
        found = [one["hosts"][host][name] for one in self.samples if since_s <= one["at_s"] <= until_s]
        return float(found[-1] - found[0])


def run(
    program: Path,
    scenario: str,
    models: dict[str, str],
    until_s: float,
    plan_at: Sequence[float] = (),
    warm: bool = False,
    hosts: Sequence[str] = (),
) -> Course:
    """Run a fleet to its end.

    Parameters
    ----------
    models : mapping of host to RNIC model
        As the catalogue names its profile.
    plan_at : sequence of float
        Times, in seconds, at which each of `hosts` gets a plan if one is worthwhile. Without any, the fleet is left alone.
    warm : bool
        Whether flows that are likely to come get entries beforehand, by dumps of the minute before.
    """
    course = Course()
    times = sorted(plan_at)
    past: dict[str, list[Past]] = {host: [] for host in hosts}
    with TemporaryDirectory() as folder, fleet(program, scenario, Path(folder)) as one:
        now = _go(one, course, 0.0, LOOK_S)
        while now < until_s:
            if times and now >= times[0]:
                times.pop(0)
                now = _plan_all(one, course, now, {host: models[host] for host in hosts}, past, warm)
            if warm and any(0 < at - now <= 6 * WARM_HISTORY_S for at in times) and now % WARM_HISTORY_S == 0:
                for host in hosts:
                    past[host].append((now, one.dump(host)))
            now = _go(one, course, now, LOOK_S)
    return course


def _go(one: Fleet, course: Course, now: float, seconds: float) -> float:
    now = one.step(seconds)
    course.samples.append({"at_s": now, "hosts": one.look()})
    return now


def _plan_all(
    one: Fleet, course: Course, now: float, models: dict[str, str], past: dict[str, list[tuple[float, str]]], warm: bool
) -> float:
    """Plans for some hosts from dumps ten seconds apart, applied side by side; and once more for the flows that came meanwhile, which keep
    their masks from being moved."""
    for _ in range(ROUNDS):
        before = {host: one.dump(host) for host in models}
        now = _go(one, course, now, 2 * LOOK_S)
        made: dict[str, tuple[Plan, Applied]] = {}
        for host, model in models.items():
            space = HeaderSpace()
            history = [(at, _read(text, space)) for at, text in past[host]] if warm else []
            earlier, dump = _read(before[host], space), _read(one.dump(host), space)
            seen = [flow for at, old in history for flow in observations(old, at)]
            headers = likely(seen, observations(dump, now), space, now) if seen else []
            plan = make_plan(dump, profiles()[model], earlier.flows, 2 * LOOK_S, expected_headers=headers, release=True)
            course.offered += plan.offered
            if not (plan.offered and plan.worthwhile and plan.steps):
                course.not_worthwhile += 1
                continue
            made[host] = plan, _applied(host, model, now, plan, len(headers))
        models = {host: model for host, model in models.items() if host in made}
        if not made:
            break
        now = _apply(one, course, now, made)
    return now


def _read(text: str, space: HeaderSpace) -> Dump:
    found = read_dump(text, space)
    if found.bad:
        raise RuntimeError(f"the simulated switch prints what cannot be read: {found.bad[0]}")
    return found


def _applied(host: str, model: str, now: float, plan: Plan, expected_flows: int) -> Applied:
    return Applied(
        host=host,
        model=model,
        at_s=now,
        operations=len(plan.steps),
        took_s=0.0,
        refused={},
        expected_before=_figures(plan.before),
        expected_after=_figures(plan.then),
        expected_low=_figures(plan.low),
        expected_high=_figures(plan.high),
        hyper_used=plan.hyper_used,
        hyper_present=sum(len(one.present) for part in plan.directions.values() for one in part.hyper),
        likely=expected_flows,
        warmed=sum(entry.known_before for part in plan.directions.values() for one in part.hyper for entry in one.entries),
        newcomers=0,
        in_software=plan.cost.flows_in_software,
        longest_in_software_s=plan.cost.longest_in_software_s,
        proof_ms=plan.proof.took_ms,
        plan_ms=plan.took_ms,
    )


def _figures(one: Expected) -> dict[str, float]:
    return {"q_l": one.q_l or 0.0, "q_r": one.q_r or 0.0, "bandwidth_gbps": one.bandwidth_gbps or 0.0, "latency_us": one.latency_us or 0.0}


def _apply(one: Fleet, course: Course, now: float, made: dict[str, tuple[Plan, Applied]]) -> float:
    """Type the operations at the plan's pace. What moves a mask is done in one go, with the flows that came since the plan was made:
    a mask gives up its place only when its last flow goes."""
    waiting = {host: _in_one_go(plan) for host, (plan, _) in made.items()}
    allowed = dict.fromkeys(made, 0.0)
    newcomers = {host: Newcomers(plan) for host, (plan, _) in made.items()}
    before = one.look() if made else {}
    while any(waiting.values()):
        for host, groups in waiting.items():
            plan, applied = made[host]
            allowed[host] += plan.cost.pace_per_s * STEP_S
            if not groups or allowed[host] <= 0:
                continue
            new = newcomers[host].read(one.dump(host))
            while groups and allowed[host] > 0:
                group = groups.pop(0)
                came = new.get((group[0].flow.mask, group[0].flow.recirculated), []) if group[0].phase == "move" else []
                gone = [step for step in group if not step.add]
                answers = one.type(host, [_typed(step, plan.space) for step in gone]) if gone else []
                removed = {step.flow.line for step, answer in zip(gone, answers, strict=True) if answer["error"]}
                commands = [["dpctl/del-flow", f"ufid:{ufid}"] for ufid, _, _ in came]
                # Flows that Open vSwitch removed by itself stay removed, as with the agent.
                commands += [_typed(step, plan.space) for step in group if step.add and step.flow.line not in removed]
                commands += [["dpctl/add-flow", f"ufid:{ufid},{match}", actions] for ufid, match, actions in came]
                answers += one.type(host, commands) if commands else []
                applied.newcomers += len(came)
                allowed[host] -= len(answers)
                for answer in answers:
                    if answer["error"]:
                        reason = answer["error"].split("(")[-1].split(")")[0]
                        applied.refused[reason] = applied.refused.get(reason, 0) + 1
        now = _go(one, course, now, STEP_S)
        for host, (_, applied) in made.items():
            if not waiting[host] and not applied.took_s:
                applied.took_s = now - applied.at_s
                applied.missed = course.samples[-1]["hosts"][host]["missed"] - before[host]["missed"]
    course.plans += [applied for _, applied in made.values()]
    ahead = -now % LOOK_S
    return _go(one, course, now, ahead) if ahead else now


class Newcomers:
    """Flows of a dump that a plan does not know."""

    def __init__(self, plan: Plan) -> None:
        self.known = {flow.ufid for flow in plan.after} | {step.flow.ufid for step in plan.steps}
        self.entries = {flow.value for flow in plan.after if not flow.ufid}
        self.parser = MatchParser(plan.space)

    def read(self, dump: str) -> dict[tuple[int, bool], list[tuple[str, str, str]]]:
        """The newcomers of each mask, as ufid, match and actions."""
        found: dict[tuple[int, bool], list[tuple[str, str, str]]] = {}
        for line in dump.splitlines():
            if line[5:41] in self.known:
                continue
            flow = read_line(line, 0, self.parser)
            if flow.value not in self.entries:
                found.setdefault((flow.mask, flow.recirculated), []).append((flow.ufid, flow.match, flow.written))
        return found


def _in_one_go(plan: Plan) -> list[list[Step]]:
    """The operations in groups: those that move a mask together, the others a few at a time."""
    groups: list[list[Step]] = []
    for step in plan.steps:
        last = groups[-1][-1] if groups else None
        together = last is not None and step.phase == last.phase and (step.phase != "move" or step.flow.mask == last.flow.mask)
        if not together or (step.phase != "move" and len(groups[-1]) >= AT_A_TIME):
            groups.append([])
        groups[-1].append(step)
    return groups


def _typed(step: Step, space: HeaderSpace) -> list[str]:
    """The words of an operation, as a shell would hand them over. No simulated flow has quotes; shlex takes ten times as long."""
    command, *quoted = step.command(space).split("'")
    return [command.strip(), *quoted[::2]]
