"""The migration on the Community edition of TimescaleDB, which Debian does not have: PostgreSQL in WebAssembly, in Node."""

import io
import json
import shutil
import subprocess
from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory

from wallwatch.store.rollups import ROLLUPS
from wallwatch.store.tables import HYPERTABLES

pytestmark = [pytest.mark.integration, pytest.mark.long]
HERE = Path(__file__).parent
REPOSITORY = HERE.parents[2]


@pytest.fixture(scope="module")
def outcome() -> dict[str, Any]:
    """What `migrate.mjs` found after the migration's SQL had run."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        pytest.skip("the Community edition of TimescaleDB requires Node 20 and npm")
    if not (HERE / "node_modules").is_dir():
        subprocess.run(["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"], cwd=HERE, check=True, capture_output=True)
    out = io.StringIO()
    config = Config(str(REPOSITORY / "alembic.ini"), output_buffer=out, cmd_opts=Namespace(x=["timescaledb=community"]))
    config.set_main_option("script_location", str(REPOSITORY / "migrations"))
    config.attributes["configure_logging"] = False
    # Those that create hypertables or views of them; others use functions that this PostgreSQL lacks.
    history = ScriptDirectory.from_config(config)
    for revision in ("0001", "0014", "0015", "0022", "0027", "0031"):
        before = history.get_revision(revision).down_revision
        command.upgrade(config, f"{before}:{revision}" if before else revision, sql=True)
    done = subprocess.run(["node", "migrate.mjs"], cwd=HERE, input=out.getvalue(), capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_it_really_is_the_community_edition(outcome: dict[str, Any]) -> None:
    assert outcome["license"] == "timescale"


def test_every_hypertable_is_there(outcome: dict[str, Any]) -> None:
    assert set(outcome["hypertables"]) == set(HYPERTABLES)


def test_aggregates_are_continuous_and_right(outcome: dict[str, Any]) -> None:
    assert set(outcome["continuousAggregates"]) == {r.view for r in ROLLUPS}
    first, running = outcome["minutes"]
    assert first == {"samples": 60, "avg": 29.5, "min": 0, "max": 59}
    assert running == {"samples": 30, "avg": 74.5, "min": 60, "max": 89}, "the running minute is computed when it is read"


def test_days_are_summed_from_hours_and_tenants_from_minutes_also_where_nothing_is_computed_yet(outcome: dict[str, Any]) -> None:
    hours = [{"hour": 22, "tenant": "a", "kept_s": 7_200}, {"hour": 23, "tenant": "a", "kept_s": 7_200}]
    assert outcome["vfHours"] == [*hours, {"hour": 0, "tenant": "a", "kept_s": 3_600}], "the last is computed when it is read"
    assert outcome["vfDays"] == [{"day": 1, "samples": 240, "kept_s": 14_400}, {"day": 2, "samples": 60, "kept_s": 3_600}]
    assert outcome["tenantHours"] == [
        {"hour": 22, "vfs": 2, "samples": 120, "kept_s": 7_200},
        {"hour": 23, "vfs": 2, "samples": 120, "kept_s": 7_200},
        {"hour": 0, "vfs": 1, "samples": 60, "kept_s": 3_600},
    ]


def test_samples_are_compressed_and_every_table_has_a_retention(outcome: dict[str, Any]) -> None:
    assert set(outcome["compressed"]) == set(HYPERTABLES) - {"event", "finding", "vf_broken"}, "which are few, and are looked up one by one"
    retention = {p.split()[1] for p in outcome["policies"] if p.startswith("policy_retention")}
    assert retention == set(HYPERTABLES) | {r.view for r in ROLLUPS}


def test_the_views_of_all_samples_read_compressed_and_new_rows(outcome: dict[str, Any]) -> None:
    assert outcome["packedTables"] == [], "the columnstore does it"
    assert outcome["all"] == [{"rows": 91, "hours": 1}]


def test_a_row_that_repeats_one_of_a_compressed_chunk_is_refused(outcome: dict[str, Any]) -> None:
    assert outcome["repeatedRow"] == "23505"  # unique violation: what makes ingest's fallback work
