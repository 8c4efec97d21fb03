"""Garbage in cycles is found when it is due, and not before."""

import subprocess
import sys

_HEADER = """
import gc, weakref
from wallwatch.jobs.garbage import Garbage
class Node: pass
def cycle():
    node = Node()
    node.itself = node
    return weakref.ref(node)
"""


def _run(body: str) -> None:
    """In a process of its own: the collector is one for all tests of this one."""
    subprocess.run([sys.executable, "-c", _HEADER + body], check=True, timeout=120)


def test_nothing_is_looked_through_between_two_looks() -> None:
    _run("""
garbage = Garbage(every_s=3600.0)
lost = cycle()
kept = [[n] for n in range(200_000)]
assert not garbage.collect_when_due()
assert lost() is not None, "Python's own collector has run"
""")


def test_a_look_in_its_time_frees_cycles() -> None:
    _run("""
garbage = Garbage(every_s=0.0)
lost = cycle()
assert garbage.collect_when_due()
assert lost() is None
""")


def test_cycles_that_grow_fast_are_freed_before_their_time() -> None:
    _run("""
garbage = Garbage(every_s=3600.0, most_new=10_000)
first = cycle()
looks, most = 0, 0
for _ in range(200):
    for _ in range(1_000):
        cycle()
    looks += garbage.collect_when_due()
    most = max(most, sum(type(one) is Node for one in gc.get_objects()))
assert first() is None
assert looks >= 10, looks
assert most < 12_000, most
""")


def test_state_that_comes_and_goes_is_not_looked_through() -> None:
    _run("""
garbage = Garbage(every_s=3600.0, most_new=10_000)
for _ in range(200):
    freed = [[n] for n in range(9_000)]
    del freed
    assert not garbage.collect_when_due()
""")


def test_what_failed_connections_leave_is_freed_while_the_job_waits_for_its_database() -> None:
    _run("""
import threading
from wallwatch.jobs.ingest_writer import Database, Stopped
Garbage(every_s=3600.0)
stop = threading.Event()
database = Database("postgresql://nobody@127.0.0.1:1/none", stop)
lost, pauses = cycle(), []
def pause(seconds):
    pauses.append(lost() is None)
    if len(pauses) == 25:
        stop.set()
database._pause = pause
try:
    database.run(lambda connection: None)
except Stopped:
    pass
assert pauses == [False] * 19 + [True] * 6, pauses
""")
