"""Writes the catalogue's numbers, and what follows from them, as lines that a person reviews.

`python -m wallwatch_testing.reviewed` writes the files anew (in the repository's root, with PYTHONPATH=tests/support). It is not part of
`make generate`: see the header of the files.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from wallwatch.domain.catalogue.load import causes, detected, prior_factors, profiles, unexplained_probability
from wallwatch.domain.catalogue.models import Bound, Cause, Definition, EvidenceRule
from wallwatch.domain.evidence import Feature
from wallwatch.domain.hypotheses.rank import prior_of, rank
from wallwatch.domain.hypotheses.versions import Identity
from wallwatch_testing.boundaries import definitions, just_met, just_missed

FOLDER = Path(__file__).parents[3] / "pipelines/tests/domain/boundaries/reviewed"

HEADER = """\
# {what}
# Reviewed, not generated: a test compares this file with the catalogue. The other tests derive their values from the catalogue, so a
# threshold that slips by accident would move them along. Here it does not: a number is changed twice, in the catalogue and here, and the
# review sees both. After a deliberate change, `PYTHONPATH=tests/support .venv/bin/python -m wallwatch_testing.reviewed` writes the lines;
# read the difference before you commit it.
"""

OTHER_FILES = ("grouping", "isolation", "policies", "remedies", "residual", "rnic_profiles", "walls")
"""Files of the catalogue that have numbers besides those of symptoms and causes."""


def symptom_lines() -> Iterator[str]:
    """The numbers of each definition: durations, then a line for each condition."""
    for entry, d in definitions():
        yield f"{entry.id}, rule {d.rule}: raised after {d.raise_for_s} s, cleared after {d.clear_for_s} s, {d.severity}"
        if d.not_with:
            yield "  not with " + ", ".join(f"{other} until {seconds} s after it" for other, seconds in d.not_with.items())
        yield from _condition_lines(d)
        for bound in d.critical_when:
            yield f"  critical when {bound.signal} {bound.text}"
    for entry in detected().values():
        yield f"{entry.id}: ratio {getattr(entry, 'ratio', 'none')}"


def _condition_lines(definition: Definition) -> Iterator[str]:
    for c in definition.conditions:
        alternative = f", one of {c.any}" if c.any else ""
        clear = f", clear {_bound(c.clear)}" if c.clear is not None else ""
        yield f"  {c.role}{alternative}: {c.signal}, {c.statistic} of {c.window_s} s: raise {_bound(c.raise_)}{clear}"


def _bound(bound: Bound) -> str:
    """A bound with all its digits."""
    name, value = next((n, v) for n, v in bound.model_dump().items() if isinstance(v, float))
    return f"{name} {value!r}"


def cause_lines() -> Iterator[str]:
    repaired, other_vendor = prior_factors()
    yield f"repaired {repaired}, other vendor {other_vendor}, unexplained {unexplained_probability()}"
    for cause in causes().values():
        explains = ", ".join(f"{symptom} {p}" for symptom, p in cause.explains.items())
        yield f"{cause.id}: prior {cause.prior}; explains {explains}"
        for rule in cause.rules:
            only = f" (only {', '.join(rule.only_for)})" if rule.only_for else ""
            yield (
                f"  {rule.signal}, {rule.statistic} of {rule.window_s} s, {_bound(rule.test)}{only}: "
                f"{rule.p_if_cause} if the cause, {rule.p_otherwise} otherwise"
            )
        for fix in cause.fixed_in:
            who = ", ".join(fix.models) or fix.driver
            yield f"  fixed on {who} from {fix.firmware_from or fix.driver_from}"
        if cause.not_on:
            yield f"  not known on {', '.join(cause.not_on)}"


def other_lines() -> Iterator[str]:
    """Every number of the other files, with its place."""
    folder = Path(__file__).parents[3] / "pipelines/wallwatch/domain/catalogue"
    for name in OTHER_FILES:
        raw = yaml.safe_load((folder / f"{name}.yaml").read_text(encoding="utf-8"))
        yield from (f"{name}.yaml: {place} = {value!r}" for place, value in _numbers(raw, ""))


def _numbers(node: Any, place: str) -> Iterator[tuple[str, float]]:
    if isinstance(node, dict):
        for key, value in node.items():
            yield from _numbers(value, f"{place}.{key}" if place else str(key))
    elif isinstance(node, list):
        for at, value in enumerate(node):
            yield from _numbers(value, f"{place}[{at}]")
    elif isinstance(node, int | float) and not isinstance(node, bool):
        yield place, node


Vector = dict[str, float]
"""`signal statistic window` -> value; a signal that is absent was not measured."""


def key_of(rule: EvidenceRule) -> str:
    return f"{rule.signal} {rule.statistic} of {rule.window_s} s"


def _rules(symptom: str) -> list[tuple[Cause, EvidenceRule]]:
    """Rules that can tell the causes of a symptom apart."""
    return [(c, r) for c in causes().values() if symptom in c.explains for r in c.rules if not r.only_for or symptom in r.only_for]


def vectors(symptom: str) -> list[Vector]:
    """Evidence for a symptom: none; each test just met and just missed, alone; all met, all missed."""
    rules = [rule for _, rule in _rules(symptom)]
    each = [{key_of(rule): value(rule.test)} for rule in rules for value in (just_met, just_missed)]
    together = [{key_of(rule): value(rule.test) for rule in rules} for value in (just_met, just_missed)]
    found: list[Vector] = []
    for vector in [{}, *each, *together]:
        if vector not in found:
            found.append(vector)
    return found


def posteriors(symptom: str, vector: Vector) -> dict[str, float]:
    """Each cause's posterior, to six digits."""

    def feature_of(rule: EvidenceRule) -> Feature | None:
        value = vector.get(key_of(rule))
        return None if value is None else Feature(value, 0, 1)

    return {h.cause: float(f"{h.posterior:.6g}") for h in sorted(rank(symptom, feature_of), key=lambda h: h.cause)}


def identities() -> list[Identity]:
    """Nobody; each model without a version; each version that fixes something, and the one just before it."""
    found = [Identity(), *(Identity(model) for model in profiles())]
    for cause in causes().values():
        for fix in cause.fixed_in:
            for installed in (fix.firmware_from, fix.driver_from):
                for text in (installed, _just_before(installed)) if installed else ():
                    for model in fix.models or ("",):
                        one = Identity(model, fix.driver or "mlx5_core", *(("", text) if fix.driver_from else (text, "")))
                        if one not in found:
                            found.append(one)
    return found


def _just_before(version: str) -> str:
    """The version whose last number is one less."""
    head, last = version[: version.rindex(".") + 1], int(version[version.rindex(".") + 1 :])
    return f"{head}{last - 1}"


def priors(rnic: Identity) -> dict[str, float]:
    return {name: float(f"{prior_of(cause, rnic):.6g}") for name, cause in causes().items()}


def posterior_lines() -> Iterator[str]:
    """YAML: a list of rows, each a symptom, its evidence and the posteriors; then the priors of identities."""
    yield "posteriors:"
    for symptom in sorted({s for cause in causes().values() for s in cause.explains}):
        for vector in vectors(symptom):
            yield f"- {{symptom: {symptom}, evidence: {_flow(vector)},"
            yield f"   posteriors: {_flow(posteriors(symptom, vector))}}}"
    yield "priors:"
    for rnic in identities():
        identity = f"{{model: '{rnic.model}', driver: '{rnic.driver}', fw_ver: '{rnic.fw_ver}', driver_version: '{rnic.driver_version}'}}"
        yield f"- {{rnic: {identity},"
        yield f"   priors: {_flow(priors(rnic))}}}"


def _flow(values: dict[str, float]) -> str:
    """A mapping on one line of YAML, which reads `1e-05` as text."""
    return (
        "{" + ", ".join(f"{name}: {value!r}" if "e" not in repr(value) else f"{name}: {value:.20f}" for name, value in values.items()) + "}"
    )


FILES = {
    "symptoms.txt": ("Bounds, windows and durations of every symptom (symptoms.yaml).", symptom_lines),
    "causes.txt": ("Priors, likelihoods and tests of every cause (causes.yaml).", cause_lines),
    "other-numbers.txt": ("Every number of the catalogue's other files.", other_lines),
    "posteriors.yaml": (
        "Posterior of each cause for evidence that just meets or just misses each test (causes.yaml, rank.py).",
        posterior_lines,
    ),
}


def text_of(name: str) -> str:
    what, lines = FILES[name]
    return HEADER.format(what=what) + "".join(f"{line}\n" for line in lines())


if __name__ == "__main__":
    for name in FILES:
        (FOLDER / name).write_text(text_of(name), encoding="utf-8")
