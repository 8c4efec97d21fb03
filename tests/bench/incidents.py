"""How long users and ticket systems wait for incidents in a large outage: 15,000 unresolved ones, the real backend, one webhook.

Before that, the cost of findings for the backend with that number of incidents: new, repeated and cleared ones.

WALLWATCH_BENCH_INCIDENTS is their number (15,000), WALLWATCH_BENCH_RUNS how often each request on one incident is measured (60).
"""

import os
import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from signal import SIGTERM
from typing import Any

import httpx
from tests.bench.finding_flood import flood
from tests.bench.report import percentile, report

from wallwatch_local import ports
from wallwatch_local.processes import die_with_parent, running
from wallwatch_testing import telemetry_path
from wallwatch_testing.stack import wait_for
from wallwatch_testing.telemetry_path import WALLWATCH, TelemetryPath
from wallwatch_testing.webhook_receiver import receiving

INCIDENTS = int(os.environ.get("WALLWATCH_BENCH_INCIDENTS", "15000"))
EVENTS_S = 30.0
RUNS = int(os.environ.get("WALLWATCH_BENCH_RUNS", "60"))

# Evidence of the size that `classify` sends: about 1.4 kB, and eight ranked causes with two pieces each.
_EVIDENCE = """
SELECT jsonb_build_array(e, e, e, e) FROM (
  SELECT jsonb_build_object('signal', 'reoffload_ratio', 'label', 'Re-offload ratio', 'unit', 'ratio', 'from', now(), 'to', now(),
    'value', 0.4, 'expected', '< 0.05', 'text', repeat('This share of the insertions. ', 5)) AS e) AS one
"""
_HYPOTHESES = """
SELECT jsonb_agg(jsonb_build_object('cause', 'C' || c, 'title', 'A cause', 'prior', 0.1, 'posterior', 1.0 / c, 'evidence_for', ev,
    'evidence_against', ev, 'next_test', 'A test.'))
FROM generate_series(1, 8) AS c, (
  SELECT jsonb_build_array(jsonb_build_object('signal', 'x', 'label', 'X', 'unit', '', 'from', now(), 'to', now(), 'value', 1,
    'expected', '', 'text', repeat('Words. ', 15))) AS ev) AS two
"""

# Five RNICs per host, every symptom and cause, half a minute between two beginnings.
SEED = f"""
WITH n AS (
  SELECT i, gen_random_uuid() AS id, gen_random_uuid() AS finding_id, 'host' || lpad((i / 5)::text, 5, '0') AS host,
         '0000:' || (ARRAY['17', '3b', '5e', '86', 'af'])[i %% 5 + 1] || ':00.0' AS pci, 'r' || (i / 80) AS rack,
         'S' || (i %% 8 + 1) AS symptom, 'C' || (i %% 8 + 1) AS cause,
         CASE WHEN i %% 7 = 0 THEN 'critical' ELSE 'warning' END AS severity, now() - make_interval(secs => i * 30) AS at
  FROM generate_series(0, %(count)s - 1) AS i
), made AS (
  INSERT INTO incident (id, host, pci, rack, symptom, state, severity, blast_radius, title, summary, finding_id, active, opened_at,
    updated_at, reopened, top_cause, scope, subject, symptoms, hosts, rnics, model, fw_ver, external_refs, apart, version, created_at)
  SELECT id, host, pci, rack, symptom, 'open', severity, 'rnic', 'A symptom of an RNIC', 'One sentence about it.', finding_id, true, at,
    at, 0, cause, 'rnic', host || ' ' || pci, ARRAY[symptom], ARRAY[host], 1, 'CX-6', '20.35', '[]', false, 1, at FROM n RETURNING id
), timeline AS (
  INSERT INTO incident_timeline (incident_id, at, kind, actor, text, data)
  SELECT id, at, 'opened', 'wallwatch', 'One sentence about it.', '{{}}' FROM n, generate_series(1, 4)
)
INSERT INTO incident_finding (finding_id, incident_id, origin_id, started_at, last_at, host, pci, rack, model, driver, fw_ver, symptom,
  cause, posterior, severity, blast_radius, rule, title, summary, explanation, inhibited, evidence, hypotheses, remedies)
SELECT finding_id, id, id, at, at, host, pci, rack, 'CX-6', 'mlx5_core', '20.35', symptom,
  cause, 0.9, severity, 'rnic', symptom || '/1', 'A symptom of an RNIC', 'One sentence about it.', 'Some sentences.', false,
  ({_EVIDENCE}), ({_HYPOTHESES}), '[]' FROM n
"""


@contextmanager
def backend(path: TelemetryPath, folder: Path) -> Iterator[tuple[httpx.Client, int]]:
    """The real backend on a database of its own: a signed-in administrator, and its process."""
    password = secrets.token_urlsafe(12)
    password_file = folder / "password"
    password_file.write_text(password)
    [port] = ports.free_ports(1)
    url = f"http://127.0.0.1:{port}"
    environment = path.environment | {"WALLWATCH_SECRETS_DIR": str(folder / "secrets")}
    create = [WALLWATCH, "user", "create", "admin", "--role", "admin", "--password-file", str(password_file)]
    subprocess.run(create, env=environment, check=True, capture_output=True)
    server = [sys.executable, "-m", "wallwatch_backend.cli.serve"]
    command = ["env", *[f"{name}={value}" for name, value in environment.items()], *server, "--port", str(port)]

    def ready() -> bool:
        try:
            return httpx.get(f"{url}/-/ready", timeout=2).status_code == 200
        except httpx.HTTPError:
            return False

    with (
        running("backend", die_with_parent(command, SIGTERM), folder / "backend.log", ready, SIGTERM) as process,
        httpx.Client(base_url=f"{url}/api/v1", timeout=120) as client,
    ):
        answer = client.post("/session", json={"username": "admin", "password": password}).raise_for_status()
        client.headers["X-CSRF-Token"] = answer.json()["csrf_token"]
        yield client, process.pid


def timed_ms(ask: Callable[[], httpx.Response]) -> float:
    """Time of a request, in ms."""
    begin = time.perf_counter()
    ask().raise_for_status()
    return (time.perf_counter() - begin) * 1000


def measure(client: httpx.Client, path: TelemetryPath) -> dict[str, Any]:
    """Each request while all incidents are unresolved; resolving requests come last."""
    ids = [one["id"] for one in client.get("/incidents", params={"limit": 500}).json()["items"]]
    step = max(len(ids) // RUNS, 1)
    chosen = [ids[i * step] for i in range(RUNS)]
    figures: dict[str, Any] = {}

    def many(name: str, ask: Callable[[str], httpx.Response]) -> None:
        times = [timed_ms(lambda one=one: ask(one)) for one in chosen]  # type: ignore[misc]  # bound at once
        figures[f"{name}_p50_ms"], figures[f"{name}_p95_ms"] = percentile(times, 0.5), percentile(times, 0.95)
        figures[f"{name}_longest_ms"] = max(times)

    many("acknowledge", lambda id: client.post(f"/incidents/{id}/acknowledge"))
    many("resolve", lambda id: client.post(f"/incidents/{id}/resolve"))
    many("reopen", lambda id: client.post(f"/incidents/{id}/reopen"))
    many("one", lambda id: client.get(f"/incidents/{id}"))
    many("similar", lambda id: client.get(f"/incidents/{id}/similar"))
    many("list_100", lambda _: client.get("/incidents", params={"state": ["open", "acknowledged", "reopened"], "sort": "severity"}))
    many("counts", lambda _: client.get("/incidents/counts", params={"state": "open"}))
    figures["export_csv_ms"] = timed_ms(lambda: client.get("/incidents/export"))
    figures["changes_all_ms"] = timed_ms(lambda: client.get("/incidents/changes", params={"limit": 1000}))
    everything: dict[str, Any] = {"filter": {}}
    figures["bulk_comment_all_ms"] = timed_ms(lambda: client.post("/incidents/bulk", json={**everything, "action": "comment", "text": "x"}))
    silence = {"matchers": [{"name": "host", "op": "=~", "value": "host.*"}], "ends_at": "2100-01-01T00:00:00Z", "reason": "x"}
    made: list[str] = []

    def create() -> httpx.Response:
        answer = client.post("/silences", json=silence)
        made.append(answer.json()["id"])
        return answer

    figures["silence_all_ms"] = timed_ms(create)
    figures["unsilence_all_ms"] = timed_ms(lambda: client.delete(f"/silences/{made[0]}"))
    figures["bulk_resolve_all_ms"] = timed_ms(lambda: client.post("/incidents/bulk", json={**everything, "action": "resolve"}))
    figures["events_put_together_per_s"] = rate_of_events(path)
    return figures


def rate_of_events(path: TelemetryPath) -> float:
    """Webhook events per second that the backend composes after the bulk actions."""
    with path.database() as connection:

        def left() -> int:
            return int(connection.execute("SELECT count(*) FROM incident_notice").fetchone()[0])  # type: ignore[index]  # a count has a row

        begin, before = time.perf_counter(), left()
        wait_for("the webhooks' events", lambda: time.perf_counter() - begin >= EVENTS_S or left() == 0, timeout_s=2 * EVENTS_S)
        return (before - left()) / (time.perf_counter() - begin)


def main() -> None:
    """Measure and report."""
    with (
        tempfile.TemporaryDirectory(prefix="ww-bench-") as folder,
        telemetry_path.start(Path(folder), partitions=1) as path,
        receiving() as receiver,
        backend(path, Path(folder)) as (client, pid),
    ):
        with path.database() as connection:
            connection.execute(SEED, {"count": INCIDENTS})
            connection.execute("ANALYZE incident, incident_finding, incident_timeline")
        hook = {"name": "bench", "url": receiver.url, "events": ["incident.opened", "incident.updated", "incident.resolved"]}
        client.post("/webhooks", json=hook).raise_for_status()
        flooded = flood(path, pid)
        figures = measure(client, path) | flooded
    report("incidents", unresolved=INCIDENTS, runs=RUNS, **figures)


if __name__ == "__main__":
    main()
