"""Which actors count as one person, with resolvers of the test's own."""

from collections.abc import Iterable
from typing import Any, cast

import pytest

from wallwatch_backend.accounts.session import persons
from wallwatch_backend.kit.database import ReadSession

SESSION = cast(ReadSession, None)
TOKENS = {"ci": {"ann"}, "shared": {"ann", "bob"}, "of-token": {"token:ci"}, "circle": {"token:circle", "rule:night"}, "gone": set[str]()}
RULES = {"night": {"token:shared"}, "plain": {"eve"}}


@pytest.fixture(autouse=True)
def resolvers(monkeypatch: pytest.MonkeyPatch) -> None:
    def resolver(known: dict[str, set[str]]) -> Any:
        async def resolve(_: ReadSession, name: str) -> Iterable[str]:
            return known.get(name, set())

        return resolve

    monkeypatch.setattr(persons, "_resolvers", {})
    persons.register("token:", resolver(TOKENS))
    persons.register("rule:", resolver(RULES))


@pytest.mark.parametrize(
    ("actor", "other", "same"),
    [
        ("ann", "ann", True),
        ("ann", "bob", False),
        ("token:ci", "ann", True),
        ("ann", "token:ci", True),
        ("token:ci", "bob", False),
        ("token:ci", "token:ci", True),
        ("token:ci", "token:shared", True),  # ann may stand behind both
        ("token:shared", "bob", True),
        ("token:of-token", "ann", True),  # a token that a token created
        ("token:of-token", "bob", False),
        ("rule:night", "bob", True),
        ("rule:plain", "ann", False),
        ("rule:plain", "eve", True),
        ("token:circle", "bob", True),
        ("token:circle", "eve", False),
        ("token:gone", "ann", False),
        ("token:gone", "token:gone", True),
        ("ci", "ann", False),  # a user who is called like a token
    ],
)
async def test_two_actors_are_one_person_where_somebody_stands_behind_both(actor: str, other: str, same: bool) -> None:
    assert await persons.same_person(SESSION, actor, other) is same
