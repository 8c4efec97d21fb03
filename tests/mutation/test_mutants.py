"""The runner of mutants: what it changes, and what it says of a run."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from tests.mutation import mutants
from tests.mutation.areas import AREAS, CATALOGUE, DOMAIN, Area
from tests.mutation.coverage import Recording
from tests.mutation.document import text_of
from tests.mutation.mutants import Mutant
from tests.mutation.run import Pytest, RunError, Runner, changed, sample

from wallwatch.domain.catalogue.load import causes, detected

BY_NAME = {area.name: area for area in AREAS}


def text(path: str) -> bytes:
    return (mutants.REPOSITORY / path).read_bytes()


def load(content: bytes) -> object:
    return yaml.load(content, yaml.CSafeLoader)


def numbers(node: object) -> list[float]:
    match node:
        case dict():
            return [number for child in node.values() for number in numbers(child)]
        case list():
            return [number for child in node for number in numbers(child)]
        case bool() | str() | None:
            return []
    return [float(str(node))]


def test_a_mutant_of_python_is_valid_and_another_program() -> None:
    path = f"{DOMAIN}/symptoms/detect.py"
    found = mutants.of_python("x", path)
    assert len(found) > 60
    for mutant in found:
        assert ast.dump(ast.parse(mutant.apply(text(path)))) != ast.dump(ast.parse(text(path))), mutant.key
    kinds = {(mutant.before, mutant.after) for mutant in found}
    assert ("not missing", "(missing)") in kinds
    assert ("0.9", "1.35") in kinds
    assert ("now_ms - since", "(now_ms + since)") in kinds


def test_a_mutant_of_a_number_changes_that_number_alone() -> None:
    path = f"{CATALOGUE}/causes.yaml"
    before = numbers(load(text(path)))
    found = mutants.of_numbers("x", path)
    assert len(found) == 2 * len(before)
    for mutant in found[::5]:
        after = numbers(load(mutant.apply(text(path))))
        assert len(after) == len(before)
        assert sum(a != b for a, b in zip(after, before, strict=True)) == 1, mutant.key


def test_every_definition_and_every_evidence_rule_is_turned_off_once() -> None:
    definitions = sum(entry.definition is not None for entry in detected().values())
    rules = sum(len(cause.rules) for cause in causes().values())
    assert len(BY_NAME["rules"].mutants("rules")) == definitions + rules + 2  # U/2 and silent are code
    of_catalogue = [
        one for one in BY_NAME["rules"].mutants("rules") + BY_NAME["conditions"].mutants("conditions") if one.path.endswith(".yaml")
    ]
    for mutant in of_catalogue[::7]:
        assert load(mutant.apply(text(mutant.path))) != load(text(mutant.path))


def test_a_mutant_of_go_leaves_texts_and_comments_alone() -> None:
    for mutant in BY_NAME["commands"].mutants("commands"):
        line = text(mutant.path).decode().splitlines()[mutant.line - 1]
        assert not line.lstrip().startswith("//")
        assert mutant.before in line


def test_the_same_seed_draws_the_same_mutants_and_another_one_others() -> None:
    area = BY_NAME["commands"]
    assert sample(area, 20, 1) == sample(area, 20, 1)
    assert sample(area, 20, 1) != sample(area, 20, 2)


def test_tests_that_must_notice_are_there() -> None:
    for area in AREAS:
        for mutant in area.mutants(area.name)[::97]:
            for argument in area.tests(mutant):
                place = argument.partition("=")[2] or argument
                assert argument.startswith(("--ignore", "./")) or Path(mutants.REPOSITORY / place.partition("::")[0]).exists(), argument


def test_the_score_leaves_out_what_has_no_effect_and_what_does_not_compile() -> None:
    def row(key: str, outcome: str, test: str = "") -> dict[str, object]:
        return {"area": "a", "key": f"f.py: {key}", "name": "n", "line": 3, "outcome": outcome, "noticed_by": test}

    rows = [row("1 -> 2", "killed", "t"), row("a", "timeout"), row("b", "invalid"), row("c | d", "survived"), row("e", "survived")]
    rows.append({**row("g", "killed", "t"), "again": True})
    areas = [{"name": "a", "title": "A", "possible": 9, "sampled": True}]
    judged = {"f.py: e": {"effect": "without effect", "why": "a default"}}
    earlier = [{"area": "a", "seed": 1, "run": 9, "noticed": 6, "since": 2, "harmless": 1, "holes": 0}]
    page = text_of({"areas": areas, "verdicts": rows, "earlier": earlier, "minutes": {"a": 2.5}}, judged)
    assert "| A | 9 | 1 | 5 | 2 | 1 | 50% | 15% to 85% | 1 | 1 | 75% | 2.5 |" in page
    assert "| A | 1 | 9 | 6 | 1 | 75% | 2 | 0 |" in page
    assert "| `f.py:3` `e` | without effect: a default |" in page
    assert "| `f.py:3` `c \\| d` | not judged yet |" in page


def test_another_seed_draws_no_mutant_that_an_earlier_round_knew() -> None:
    area = BY_NAME["conditions"]
    first = sample(area, 30, 7)
    second = sample(area, 1000, 8, frozenset(mutant.fingerprint for mutant in first))
    assert {mutant.key for mutant in first}.isdisjoint(mutant.key for mutant in second)
    assert {mutant.key for mutant in first + second} == {mutant.key for mutant in area.mutants(area.name)}


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Pytest]:
    """A project of one module, and three tests of it: one of each function, and one that cannot begin."""
    (tmp_path / "pytest.ini").write_text("[pytest]\npythonpath = .\n")
    (tmp_path / "sums.py").write_text("def plus(a, b):\n    return a + b\n\n\ndef minus(a, b):\n    return a - b\n")
    (tmp_path / "test_sums.py").write_text(
        "import sums\n\ndef test_plus():\n    assert sums.plus(1, 2) == 3\n\ndef test_minus():\n    assert sums.minus(3, 2) == 1\n"
    )
    for name in ("tests", "pipelines"):
        (tmp_path / name).symlink_to(mutants.REPOSITORY / name)
    pytest_server = Pytest(tmp_path)
    yield pytest_server
    pytest_server.close()


def test_a_mutant_is_noticed_by_the_test_that_calls_its_function_and_the_next_run_sees_the_original(program: Pytest) -> None:
    recording = program.record(("test_sums.py",))
    mutant = Mutant("x", "sums.py", 6, 65, 66, "-", "+")
    assert mutant.begin == (program.folder / "sums.py").read_text().index("-")
    with changed(mutant, program.folder):
        answer = program.ask(["test_sums.py"], only=dict.fromkeys(recording.took, 0.1))
        assert (answer["code"], answer["failed"], answer["when"]) == (1, "test_sums.py::test_minus", "call")
        assert answer["asserted"]
        assert program.ask(["test_sums.py"], leave_out=["test_sums.py::test_minus"])["code"] == 0
    assert program.ask(["test_sums.py"])["code"] == 0
    assert recording.tests["sums.py:5"] == {"test_sums.py::test_minus"}


def test_a_module_that_cannot_be_loaded_is_a_failing_test_and_a_missing_file_is_none(program: Pytest) -> None:
    with changed(Mutant("x", "sums.py", 1, 0, 3, "def", "raise"), program.folder):
        answer = program.ask(["test_sums.py"])
        assert (answer["failed"], answer["when"], answer["asserted"]) == ("test_sums.py", "collect", False)
    assert program.ask(["test_of_nothing.py"])["failed"] == ""


def test_a_mutant_that_only_faults_of_the_runner_end_is_not_noticed(program: Pytest) -> None:
    area = Area("x", "X", lambda _: [], lambda _: ["test_of_nothing.py"])
    (program.folder / "LICENSE").write_bytes(text("LICENSE"))
    with pytest.raises(RunError, match="pytest ended with 4"):
        Runner(area, program.folder, program).verdict(Mutant("x", "LICENSE", 1, 0, 0, "", "mutated"))


def test_the_tests_of_a_mutant_are_those_that_call_the_function_around_it() -> None:
    path = f"{DOMAIN}/symptoms/clock_steps.py"
    lines = text(path).decode().splitlines()
    function = next(number for number, line in enumerate(lines, start=1) if line.startswith("def set_back"))
    recording = Recording.of({"t1": [f"{path}:{function}"], "t2": [f"{path}:1"], "t3": ["other.py:1"]}, {"t1": 0.1, "t2": 0.2, "t3": 0.3})
    inside, outside = (Mutant("x", path, line, 0, 0, "", "") for line in (function + 8, 1))
    assert recording.covering(inside) == {"t1": 0.1}
    assert recording.covering(outside) == {"t1": 0.1, "t2": 0.2}
