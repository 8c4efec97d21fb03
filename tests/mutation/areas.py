"""What is mutated, and which tests must notice."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.mutation import mutants
from tests.mutation.mutants import REPOSITORY, Mutant

DOMAIN = "pipelines/wallwatch/domain"
TESTS = "pipelines/tests/domain"
CATALOGUE = f"{DOMAIN}/catalogue"

# The quickest first: a mutant's run ends with the first test that fails. Those of the catalogue's files come before those of the code.
DETECTION = [
    f"{TESTS}/{name}"
    for name in (
        "boundaries", "test_what_each_condition_is_for.py", "test_hypotheses.py", "test_catalogue.py", "test_suggested_remedies.py",
        "test_remedy_checks.py",
        "test_host_symptoms.py", "test_flow_symptoms.py", "test_performance_and_walls.py", "test_silence.py", "test_residual.py",
        "test_detect.py", "test_signals.py", "test_host_state.py", "test_finding_messages.py", "test_explain.py",
        "test_catalogue_mistakes.py", "test_rnic_samples.py", "test_events.py", "test_window.py", "test_promoted.py",
        "test_violations_as_evidence.py", "policies", "test_symptoms.py", "test_bad_telemetry.py", "test_first_signs.py",
    )
]  # fmt: skip
# Two property tests take as long as all others together, and are left out.
DETECTION += [f"--deselect={TESTS}/test_symptoms.py::test_samples_that_come_{how}" for how in (
    "twice_change_nothing", "a_few_seconds_out_of_order_give_the_same_verdicts"
)]  # fmt: skip
BEHAVIOUR = [*DETECTION, "--ignore", f"{TESTS}/boundaries/test_reviewed.py"]
"""Without the numbers that are written twice: what a change of a number or a rule does to findings."""

PACKAGES = {
    "calibration": [f"{TESTS}/calibration"],
    "forecast": [f"{TESTS}/forecast"],
    "isolation": [f"{TESTS}/isolation", f"{TESTS}/isolation_live", f"{TESTS}/isolation_shares", f"{TESTS}/isolation_simulation"],
    "ltl": [f"{TESTS}/ltl", f"{TESTS}/policies"],
    "masks": [f"{TESTS}/masks", f"{TESTS}/planning"],
    "performance": [f"{TESTS}/test_performance_and_walls.py", f"{TESTS}/test_prediction.py", f"{TESTS}/calibration"],
    "perftest": [f"{TESTS}/perftest", f"{TESTS}/calibration"],
    "planning": [f"{TESTS}/planning"],
    "policies": [f"{TESTS}/policies"],
    "telemetry": [f"{TESTS}/telemetry", f"{TESTS}/test_catalogue.py", f"{TESTS}/test_bad_telemetry.py"],
    "walls": [f"{TESTS}/test_performance_and_walls.py"],
}
DEFINITIONS = ("symptoms", "behaviours")
NUMBERS = ("symptoms", "causes", "grouping", "policies", "remedies", "residual", "rnic_profiles")
ACCESS = [
    "backend/wallwatch_backend/kit/access.py", "backend/wallwatch_backend/kit/roles.py",
    "backend/wallwatch_backend/accounts/session/repository.py", "backend/wallwatch_backend/accounts/session/service.py",
    "backend/wallwatch_backend/accounts/tokens/repository.py", "backend/wallwatch_backend/accounts/tokens/service.py",
    "backend/wallwatch_backend/accounts/session/persons.py", "backend/wallwatch_backend/remedies/orders/approval.py",
]  # fmt: skip
ACCESS_TESTS = [
    "backend/tests/accounts",
    "backend/tests/kit/test_roles.py",
    "backend/tests/accounts/test_persons.py",
    "backend/tests/remedies/test_remedy_control.py",
    "backend/tests/fleet/test_stream.py",
    "backend/tests/test_doctests.py",
]


@dataclass(frozen=True)
class Area:
    """Files of one kind with the tests that must notice a change of them."""

    name: str
    title: str
    mutants: Callable[[str], list[Mutant]]
    tests: Callable[[Mutant], list[str]]
    """Arguments of pytest: every test that may notice."""
    recorded: tuple[str, ...] = ()
    """Arguments of pytest: what runs once without a mutant, to learn which test calls what. Those tests come first. Empty for files that
    are no code; then all mutants of an area have the same tests."""
    go: tuple[str, ...] = ()
    """Packages of the collectors whose tests must notice, in place of pytest."""
    servers: bool = False
    """Whether the tests use PostgreSQL."""
    sampled: bool = True
    """False: all of them run, whatever the sample's size."""


def _modules(folder: str) -> list[str]:
    return sorted(str(path.relative_to(REPOSITORY)) for path in (REPOSITORY / folder).rglob("*.py") if path.name != "__init__.py")


def _detection(area: str) -> list[Mutant]:
    files = [p for folder in ("symptoms", "hypotheses", "catalogue") for p in _modules(f"{DOMAIN}/{folder}")] + [f"{DOMAIN}/evidence.py"]
    return [mutant for path in files for mutant in mutants.of_python(area, path)]


def _rest(area: str) -> list[Mutant]:
    return [mutant for package in PACKAGES for path in _modules(f"{DOMAIN}/{package}") for mutant in mutants.of_python(area, path)]


def _with_examples(tests: list[str]) -> Callable[[Mutant], list[str]]:
    """The tests, and the examples in the docstrings of the mutated module."""

    def of(mutant: Mutant) -> list[str]:
        module = ".".join(Path(mutant.path).with_suffix("").parts[1:])
        more = [f"{TESTS}/test_doctests.py::test_the_examples_of_each_module_hold[{module}]"] if ">>>" in _text(mutant) else []
        return [*more, *(tests or PACKAGES[Path(mutant.path).parts[3]])]

    return of


def _text(mutant: Mutant) -> str:
    return (REPOSITORY / mutant.path).read_text(encoding="utf-8")


def _numbers(area: str) -> list[Mutant]:
    return [mutant for name in NUMBERS for mutant in mutants.of_numbers(area, f"{CATALOGUE}/{name}.yaml")]


def _rules_off(area: str) -> list[Mutant]:
    causes = mutants.of_rules(area, f"{CATALOGUE}/causes.yaml", frozenset({"rules"}))
    in_code = [
        mutants.of_text(area, f"{CATALOGUE}/residual.yaml", "raise_min: {value: 5", "raise_min: {value: 1000000"),
        mutants.of_text(area, f"{DOMAIN}/symptoms/silence.py", "SILENT_S = 60.0", "SILENT_S = 1e12"),
    ]
    definitions = [mutant for name in DEFINITIONS for mutant in mutants.of_definitions(area, f"{CATALOGUE}/{name}.yaml")]
    return definitions + causes + in_code


def _conditions_off(area: str) -> list[Mutant]:
    found = [mutant for name in DEFINITIONS for mutant in mutants.of_rules(area, f"{CATALOGUE}/{name}.yaml", frozenset({"conditions"}))]
    return [one for one in found if "role: supporting" not in one.before]


def _go(area: str) -> list[Mutant]:
    files = sorted((REPOSITORY / "collectors/agent/command").glob("*.go"))
    return [
        mutant for path in files if not path.name.endswith("_test.go") for mutant in mutants.of_go(area, str(path.relative_to(REPOSITORY)))
    ]


AREAS = (
    Area("rules", "Rules turned off, one at a time, without the reviewed numbers", _rules_off, lambda _: BEHAVIOUR, sampled=False),
    Area(
        "detection", "Detection and causes (`domain/symptoms`, `hypotheses`, `catalogue`)", _detection, _with_examples(DETECTION), (TESTS,)
    ),
    Area("domain", "The rest of `domain`", _rest, _with_examples([]), (TESTS,)),
    Area("numbers", "Numbers of the catalogue", _numbers, lambda _: DETECTION),
    Area("numbers-behaviour", "The same, without the reviewed numbers", _numbers, lambda _: BEHAVIOUR),
    Area("conditions", "Conditions turned off, without the reviewed numbers", _conditions_off, lambda _: BEHAVIOUR),
    Area("commands", "The agent's checks of commands", _go, lambda _: [], go=("./agent/command/",)),
    Area(
        "access",
        "Access control",
        lambda area: [m for path in ACCESS for m in mutants.of_python(area, path)],
        lambda _: ACCESS_TESTS,
        tuple(ACCESS_TESTS),
        servers=True,
    ),
)
