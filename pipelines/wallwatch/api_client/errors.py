"""What can go wrong with a request, each with the exit code of the command line (docs/cli.md)."""

from __future__ import annotations

from typing import Any, ClassVar


class ClientError(Exception):
    """Any failure that the person at the command line can do something about."""

    exit_code: ClassVar[int] = 1


class WrongUsage(ClientError):
    """An option, a file or a profile is wrong; no request was sent."""

    exit_code = 2


class NotPermitted(ClientError):
    """No token, an invalid one, or one that may not do this."""

    exit_code = 3


class NotFound(ClientError):
    """Nothing has this id or name."""

    exit_code = 4


class Refused(ClientError):
    """The server read the request and refused it: invalid, in conflict, or changed meanwhile."""

    exit_code = 5


class Unreachable(ClientError):
    """No answer, or an answer that says to try again later."""

    exit_code = 6


PERMISSION = frozenset({401, 403})
LATER = frozenset({408, 429})


def of_answer(status: int, problem: Any) -> ClientError:
    """The error of an answer that is not 2xx; `problem` is its JSON body, or None.

    >>> error = of_answer(404, {"title": "Not found", "detail": "No incident has this id."})
    >>> type(error).__name__, str(error)
    ('NotFound', 'Not found. No incident has this id.')
    >>> field = {"location": ["body", "ends_at"], "message": "required"}
    >>> of_answer(422, {"title": "Invalid", "detail": "See errors.", "errors": [field]}).args[0]
    'Invalid. See errors.\\n  body.ends_at: required'
    >>> type(of_answer(503, None)).__name__, str(of_answer(503, None))
    ('Unreachable', 'The server answered 503.')
    """
    kind = _kind(status)
    if not isinstance(problem, dict) or "title" not in problem:
        return kind(f"The server answered {status}.")
    lines = [f"{problem['title']}. {problem.get('detail', '')}".strip()]
    for field in problem.get("errors") or []:
        if isinstance(field, dict):
            place = ".".join(str(step) for step in field.get("location", []))
            lines.append(f"  {place}: {field.get('message', '')}")
    return kind("\n".join(lines))


def _kind(status: int) -> type[ClientError]:
    if status in PERMISSION:
        return NotPermitted
    if status == 404:
        return NotFound
    if status >= 500 or status in LATER:
        return Unreachable
    return Refused
