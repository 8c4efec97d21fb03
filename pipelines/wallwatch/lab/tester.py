"""The device as the search sees it: counts, bounds, retries and writes down every operation, and answers from the journal first."""

from __future__ import annotations

import queue
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import Any

from wallwatch.domain.lab.device import Config, Device, to_json
from wallwatch.domain.lab.tester import BudgetReached, Outcome, Phase, SearchEnd, Stopped, one_by_one
from wallwatch.lab.answers import Answer
from wallwatch.lab.differences import differences
from wallwatch.lab.faults import DeviceGone
from wallwatch.lab.journal import Content, Journal, JournalError
from wallwatch.lab.options import CampaignOptions, Hooks
from wallwatch.lab.process import DeviceProcess
from wallwatch.lab.progress import Estimate, Progress

ATTEMPTS = 3
"""Of one operation that the device answers with `error`."""
FAILURES_IN_A_ROW = 3
"""Operations one after another without an answer after all attempts: the device has failed. One alone may be due to its configuration."""


@dataclass(frozen=True)
class Request:
    """One operation, number `n` of the campaign."""

    n: int
    kind: str
    phase: Phase
    config: Config | None
    attempt: int

    def to_json(self) -> dict[str, Any]:
        found: dict[str, Any] = {"kind": self.kind, "n": self.n, "phase": self.phase}
        if self.config is not None:
            found["config"] = to_json(self.config)
        return found | {"attempt": self.attempt}


class JournalTester:
    """A `Tester` of the search.

    Parameters
    ----------
    processes
        One for each test that may run at a time.
    content
        What the journal holds already; it answers the operations that it has.

    Raises
    ------
    BudgetReached, Stopped
        As the search expects. `ended` then holds the reason.
    JournalError
        The search asks something else than the journal holds, or the journal cannot be written.
    """

    def __init__(
        self, device: Device, processes: Sequence[DeviceProcess], journal: Journal, content: Content, options: CampaignOptions, hooks: Hooks
    ) -> None:
        self._device = device
        self._all = tuple(processes)
        self._processes: queue.SimpleQueue[DeviceProcess] = queue.SimpleQueue()
        for process in processes:
            self._processes.put(process)
        # A device with memory is one device: a second process would not know what the first one left behind.
        self._at_once = 1 if device.sequential else len(processes)
        self._pool = ThreadPoolExecutor(self._at_once, "lab") if self._at_once > 1 else None
        self._journal = journal
        self._writing = threading.Lock()
        self._content = content
        self._options = options
        self._hooks = hooks
        self._begin = time.monotonic() - content.seconds
        self._asked = 0
        self._from_journal = 0
        self._failures = 0
        self._estimate = Estimate(device.varied(options.only), options.strength)
        self.ended: str | None = None
        self.operations: Counter[str] = Counter()
        """Per phase, retries included."""
        self.resets = 0
        self.retries = 0
        self.faults: Counter[str] = Counter()
        self._ending: SearchEnd | None = None
        self._aborted = False
        for line in content.dropped:
            self._count(Request(line["n"], line["kind"], line["phase"], None, line["attempt"]), _answer(line))

    @property
    def seconds(self) -> float:
        """Of all sessions of the campaign."""
        return time.monotonic() - self._begin

    @property
    def campaign_seconds(self) -> float:
        """As `seconds`; a campaign that was only read from its journal took no more time than it says."""
        return self.seconds if sum(self.operations.values()) > self._from_journal + len(self._content.dropped) else self._content.seconds

    def test(self, config: Config, phase: Phase) -> Outcome:
        return _outcome(self._operate("test", [config], phase)[0])

    def test_all(self, configs: Sequence[Config], phase: Phase) -> list[Outcome]:
        if self._at_once == 1:
            return one_by_one(self.test, configs, phase)
        return [_outcome(answer) for answer in self._operate("test", list(configs), phase)]

    def reset(self, phase: Phase) -> None:
        answer = self._operate("reset", [None], phase)[0]
        if answer.status == "error":
            raise self._end(Stopped(f"device failed: it cannot be reset: {answer.reason}"))

    def abort(self) -> None:
        """End the running tests without waiting; nothing more is written down."""
        self._aborted = True
        self._ending = Stopped("aborted")
        for process in self._all if self._pool else ():
            process.terminate()

    def close(self) -> None:
        """Wait for the threads; the processes belong to whoever started them."""
        if self._pool:
            self._pool.shutdown()

    def _operate(self, kind: str, configs: Sequence[Config | None], phase: Phase) -> list[Answer]:
        """Answers in the order of the configurations; those that are `error` are asked again, all together."""
        answers = [Answer("error")] * len(configs)
        pending = list(range(len(configs)))
        for attempt in range(1, ATTEMPTS + 1):
            requests = [Request(self._asked + i, kind, phase, configs[at], attempt) for i, at in enumerate(pending, 1)]
            self._asked += len(requests)
            arrived = self._round(requests)
            for at, request in zip(pending, requests, strict=True):
                answers[at] = arrived.get(request.n, answers[at])
            if len(arrived) < len(requests):
                end = self._end(self._limit() or BudgetReached("budget reached"))
                end.answered = {at: _outcome(answer) for at, answer in enumerate(answers) if answer.status != "error"}
                raise end
            pending = [at for at in pending if answers[at].status == "error"]
            if not pending:
                break
        self._watch_failures(answers)
        return answers

    def _watch_failures(self, answers: Sequence[Answer]) -> None:
        for answer in answers:
            self._failures = self._failures + 1 if answer.status == "error" else 0
            if self._failures >= FAILURES_IN_A_ROW:
                raise self._end(Stopped(f"device failed: {self._failures} operations in a row had no answer; the last: {answer.reason}"))

    def _round(self, requests: Sequence[Request]) -> dict[int, Answer]:
        """Each request once, from the journal or from the device: answers by its number, fewer where a limit is reached."""
        answers = {request.n: answer for request in requests if (answer := self._known(request)) is not None}
        for request in requests:
            if request.n in answers:
                self._done(request, answers[request.n], from_journal=True)
        live = [request for request in requests if request.n not in answers]
        left = len(live) if self._options.budget is None else max(self._options.budget - sum(self.operations.values()), 0)
        for request, answer in self._live(live[:left]):
            answers[request.n] = answer
            self._done(request, answer, from_journal=False)
        return answers

    def _live(self, requests: Sequence[Request]) -> Iterator[tuple[Request, Answer]]:
        """Answers of the device in the order in which they arrive; fewer than asked when a limit is reached meanwhile."""
        if self._pool is None or len(requests) == 1:
            for request in requests:
                answer = None if self._limit() else self._ask_device(request)
                if answer is not None:
                    yield request, answer
            return
        futures = {self._pool.submit(self._unless_ending, request): request for request in requests}
        for future in as_completed(futures):
            self._limit()
            answer = future.result()
            if answer is not None:
                yield futures[future], answer

    def _unless_ending(self, request: Request) -> Answer | None:
        """In a thread of the pool: at a limit, the tests that have not begun are left out."""
        return None if self._ending else self._ask_device(request)

    def _ask_device(self, request: Request) -> Answer | None:
        """Ask a free process; the answer is in the journal before anybody sees it. None when the device cannot be used any more."""
        process = self._processes.get()
        try:
            answer = process.reset() if request.config is None else process.test(request.config)
        except DeviceGone as gone:
            self._ending = Stopped(f"device failed: {gone}")
            return None
        finally:
            self._processes.put(process)
        if self._aborted:
            return None
        with self._writing:
            self._journal.append(_line(request, answer, self.seconds))
        return answer

    def _limit(self) -> SearchEnd | None:
        """The reason to end now, if there is one."""
        if self._ending is None:
            reason = self._hooks.should_stop()
            if reason is not None:
                self._ending = Stopped(reason)
            elif self._options.max_time_s is not None and self.seconds >= self._options.max_time_s:
                self._ending = BudgetReached("time reached")
        return self._ending

    def _end(self, end: SearchEnd) -> SearchEnd:
        self._ending = end
        self.ended = str(end)
        return end

    def _known(self, request: Request) -> Answer | None:
        """The journal's answer, None when it has none.

        The search is deterministic for the description, the options and the answers: it asks the same again in the same order.
        """
        line = self._content.lines.get(request.n)
        if line is None:
            return None
        asked = request.to_json()
        if any(line.get(name) != value for name, value in asked.items()):
            raise JournalError(
                f"operation {request.n} of the journal is not what the search asks: {differences(_without_answer(line, asked), asked)}; "
                "the journal belongs to other options or another version of Wallwatch: start a new campaign in another folder"
            )
        return _answer(line)

    def _done(self, request: Request, answer: Answer, from_journal: bool) -> None:
        self._from_journal += from_journal
        self._count(request, answer)
        self._hooks.on_progress(self._progress(request.phase))

    def _count(self, request: Request, answer: Answer) -> None:
        self.operations[request.phase] += 1
        self.resets += request.kind == "reset"
        self.retries += request.attempt > 1
        if answer.fault is not None:
            self.faults[answer.fault] += 1
        if answer.repeated:
            self.faults["answered twice"] += answer.repeated
        self._estimate.count(request.phase)

    def _progress(self, phase: str) -> Progress:
        adaptive = self._options.strategy == "adaptive"
        return Progress(
            operations=sum(self.operations.values()),
            resets=self.resets,
            retries=self.retries,
            from_journal=self._from_journal,
            phase=phase,
            phases=dict(self.operations),
            seconds=self.seconds,
            budget=self._options.budget,
            remaining=self._estimate.remaining(self._options.budget) if adaptive else None,
        )


def _outcome(answer: Answer) -> Outcome:
    return Outcome(answer.status, frozenset(answer.symptoms), answer.metrics, answer.reason or "")


def _line(request: Request, answer: Answer, elapsed_s: float) -> dict[str, Any]:
    """A line of the journal."""
    line = request.to_json() | {"status": answer.status}
    if request.config is not None:
        line |= {"symptoms": list(answer.symptoms), "metrics": dict(answer.metrics)}
    line |= {"reason": answer.reason, "seconds": round(answer.seconds, 6), "elapsed_s": round(elapsed_s, 3)}
    if answer.fault is not None:
        line["fault"] = answer.fault
    if answer.repeated:
        line["answered_twice"] = answer.repeated
    return line


def _answer(line: Mapping[str, Any]) -> Answer:
    """The answer in a line of the journal."""
    return Answer(
        line["status"],
        tuple(line.get("symptoms", ())),
        line.get("metrics", {}),
        line.get("reason"),
        line.get("fault"),
        line.get("seconds", 0.0),
        line.get("answered_twice", 0),
    )


def _without_answer(line: Mapping[str, Any], asked: Mapping[str, Any]) -> dict[str, Any]:
    return {name: line[name] for name in (*asked, "config") if name in line}
