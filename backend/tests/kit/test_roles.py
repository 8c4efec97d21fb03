"""What each role may do."""

import pytest

from wallwatch_backend.kit.roles import Role


@pytest.mark.parametrize(
    ("has", "needed", "may"),
    [
        ("viewer", "viewer", True), ("viewer", "operator", False), ("viewer", "admin", False),
        ("operator", "viewer", True), ("operator", "operator", True), ("operator", "admin", False),
        ("admin", "viewer", True), ("admin", "operator", True), ("admin", "admin", True),
    ],
)  # fmt: skip
def test_a_role_may_do_what_it_and_the_lesser_ones_may(has: str, needed: str, may: bool) -> None:
    assert Role(has).covers(Role(needed)) is may
