"""The catalogue's numbers are those that were reviewed, and each of them moves something.

See the header of the files in `reviewed/` for why they are written twice.
"""

from collections import defaultdict

import pytest
import yaml

from wallwatch.domain.catalogue.load import causes
from wallwatch.domain.hypotheses.versions import Identity
from wallwatch_testing.reviewed import FILES, FOLDER, key_of, posteriors, priors, text_of, vectors

HOW = "was it meant? then: PYTHONPATH=tests/support .venv/bin/python -m wallwatch_testing.reviewed, and read the difference"
REVIEWED = yaml.safe_load((FOLDER / "posteriors.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", sorted(FILES))
def test_every_number_of_the_catalogue_is_the_one_that_was_reviewed(name: str) -> None:
    reviewed, now = (FOLDER / name).read_text(encoding="utf-8").splitlines(), text_of(name).splitlines()
    changed = [f"- {line}" for line in reviewed if line not in now] + [f"+ {line}" for line in now if line not in reviewed]
    assert reviewed == now, "\n".join([f"{name}: {HOW}", *changed])


@pytest.mark.parametrize("row", REVIEWED["posteriors"], ids=lambda row: f"{row['symptom']} {row['evidence']}")
def test_the_reviewed_evidence_gives_the_reviewed_posteriors(row: dict[str, dict[str, float]]) -> None:
    assert posteriors(str(row["symptom"]), row["evidence"]) == pytest.approx(row["posteriors"], rel=1e-5)


@pytest.mark.parametrize("row", REVIEWED["priors"], ids=lambda row: " ".join(filter(None, row["rnic"].values())) or "nobody")
def test_an_rnic_has_the_reviewed_priors(row: dict[str, dict[str, str]]) -> None:
    assert priors(Identity(**row["rnic"])) == pytest.approx(row["priors"])


def test_each_test_of_each_cause_moves_its_posterior_where_it_is_just_met_and_where_it_is_just_missed() -> None:
    for cause in causes().values():
        for rule in cause.rules:
            for symptom in rule.only_for or cause.explains:
                without = posteriors(symptom, {})[cause.id]
                met, missed = (posteriors(symptom, v)[cause.id] for v in vectors(symptom) if set(v) == {key_of(rule)})
                assert missed < without < met, (cause.id, symptom, key_of(rule))


def test_causes_that_share_a_test_agree_on_how_often_it_holds_without_them() -> None:
    # The smallest one counts, so another one that is changed alone would change nothing.
    shared = defaultdict(set)
    for cause in causes().values():
        for rule in cause.rules:
            shared[key_of(rule), rule.test.text].add(rule.p_otherwise)
    assert {key: values for key, values in shared.items() if len(values) > 1} == {}
