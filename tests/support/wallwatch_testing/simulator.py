"""The simulated fleet alone, without anything that observes it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from signal import SIGTERM

from wallwatch_local import hosts
from wallwatch_local.paths import binary
from wallwatch_local.processes import die_with_parent, listens, running


@contextmanager
def simulating(folder: Path, scenario: str | Path, speed: float = 1) -> Iterator[list[Path]]:
    """Run fleetsim on a scenario, by name or a file of the test's own, for the length of the block.

    Yields the folders of the hosts once all can be observed.
    """
    file = scenario if isinstance(scenario, Path) else hosts.scenario_file(scenario)
    folders = [folder / "hosts" / host.name for host in hosts.hosts_of(file)]
    # A relative folder keeps the paths of the sockets short.
    arguments = ["run", "--scenario", str(file), "--hosts", "hosts", "--speed", str(speed)]
    command = die_with_parent(["env", f"--chdir={folder}", str(binary("fleetsim")), *arguments], SIGTERM)

    def is_ready() -> bool:
        return all(listens(one / "ovs" / "db.sock") and listens(one / "ovs" / "vswitchd.ctl") for one in folders)

    with running("fleetsim", command, folder / "fleetsim.log", is_ready, SIGTERM):
        yield folders
