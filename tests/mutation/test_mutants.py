"""The runner of mutants: what it changes, and what it says of a run."""

import ast
from pathlib import Path

import yaml
from tests.mutation import mutants
from tests.mutation.areas import AREAS, CATALOGUE, DOMAIN
from tests.mutation.document import text_of
from tests.mutation.run import sample

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
    for mutant in (BY_NAME["rules"].mutants("rules") + BY_NAME["conditions"].mutants("conditions"))[::7]:
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
    areas = [{"name": "a", "title": "A", "possible": 9, "sampled": True}]
    judged = {"f.py: e": {"effect": "without effect", "why": "a default"}}
    page = text_of({"seed": 1, "areas": areas, "verdicts": rows}, judged)
    assert "| A | 9 | 4 | 2 | 0 | 2 | 1 | 67% |" in page
    assert "| `f.py:3` `e` | without effect: a default |" in page
    assert "| `f.py:3` `c \\| d` | not judged yet |" in page
