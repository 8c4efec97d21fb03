"""The path of a violation through the automaton, from its reported steps."""

from collections.abc import Sequence

from wallwatch.domain.ltl.monitor import Monitor

Path = tuple[int | None, list[int | None]]
"""State before the first step, and after each; None where it is unknown."""


def path(monitor: Monitor, steps: Sequence[Sequence[str]], cut: bool) -> Path:
    """Follow the steps; one without propositions is not part of the policy and changes nothing.

    When earlier steps are missing, every open state is possible at first, and those that do not end in a violation are left out.

    >>> from wallwatch.domain.ltl.monitor import compiled
    >>> path(compiled("G(a -> X b)"), [["a"], [], ["c"]], cut=False)
    (0, [1, 1, 2])
    >>> path(compiled("G(a -> X b)"), [["c"]], cut=True)
    (1, [2])
    """
    open_states = [state for state, verdict in enumerate(monitor.verdicts) if verdict == "?"]
    sets = [{*(open_states if cut else [0])}]
    for present in steps:
        letter = monitor.letter(present)
        sets.append({monitor.next(state, letter) for state in sets[-1]} if present else set(sets[-1]))
    violated = {state for state in sets[-1] if monitor.verdicts[state] == "F"}
    if not violated:
        return None, [None] * len(steps)
    sets[-1] = violated
    for i in range(len(steps) - 1, -1, -1):
        letter = monitor.letter(steps[i])
        sets[i] = {state for state in sets[i] if (monitor.next(state, letter) if steps[i] else state) in sets[i + 1]}
    known = [next(iter(states)) if len(states) == 1 else None for states in sets]
    return known[0], known[1:]
