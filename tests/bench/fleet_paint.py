"""How long the page Fleet of the paper's fleet takes to be painted in Chromium, and how smoothly it pans.

40,000 seeded rows, the real backend and UI. Each run opens the page with an empty cache. The reference is the same page with one RNIC,
in the same run: what loading the page costs without the fleet. WALLWATCH_BENCH_RUNS is the number of runs (5).
"""

import json
import os
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from signal import SIGTERM
from typing import Any

import httpx
from tests.bench import browser
from tests.bench.report import percentile, report

from wallwatch_local import ports
from wallwatch_local.paths import REPOSITORY
from wallwatch_local.processes import die_with_parent, running
from wallwatch_testing import telemetry_path
from wallwatch_testing.telemetry_path import WALLWATCH, TelemetryPath

RNICS = 40_000
RUNS = int(os.environ.get("WALLWATCH_BENCH_RUNS", "5"))
SCRIPT = Path(__file__).with_name("fleet_paint.mjs")
# 8,000 hosts of 5 RNICs, 16 hosts per rack; headroom spread over all bands, 1 in 200 with a symptom.
SEED = """
INSERT INTO rnic_state (rnic_id, host, pci, rack, model, walls, headroom, nearest_wall, symptoms, tx_gbps, rx_gbps, seen_at, change_seq)
SELECT i, 'host' || lpad((i / 5)::text, 5, '0'), '0000:' || (ARRAY['17', '3b', '5e', '86', 'af'])[i %% 5 + 1] || ':00.0',
       'r' || lpad((i / 80)::text, 3, '0'), (ARRAY['CX-4', 'CX-5', 'CX-6', 'CX-7', 'BF-3', 'E810'])[i %% 6 + 1], '{}',
       (i * 7919 %% 1000) / 1000.0, (ARRAY['offloaded_flows', 'egress_masks', 'ingress_masks'])[i %% 3 + 1],
       CASE WHEN i %% 200 = 0 THEN '{"S6": {"since": "2026-01-01T00:00:00Z", "severity": "warning"}}'::jsonb ELSE '{}'::jsonb END,
       i %% 200, i %% 180, now(), i + 1
FROM generate_series(0, %s - 1) AS i
"""


def seed(path: TelemetryPath, rnics: int) -> None:
    """So many RNICs in the database, and no others."""
    with path.database() as connection:
        connection.execute("DELETE FROM rnic_state")
        connection.execute(SEED, [rnics])
        connection.execute("ANALYZE rnic_state")


@contextmanager
def serving(path: TelemetryPath, folder: Path) -> Iterator[dict[str, str]]:
    """Run the backend and the built pages; yields what a browser script needs to open them."""
    password = secrets.token_urlsafe(12)
    password_file = folder / "password"
    password_file.write_text(password)
    [port] = ports.free_ports(1)
    url = f"http://127.0.0.1:{port}"
    environment = path.environment | {
        "WALLWATCH_SECRETS_DIR": str(folder / "secrets"),
        "WALLWATCH_UI_DIR": str(REPOSITORY / "frontend" / "dist"),
    }
    create = [WALLWATCH, "user", "create", "admin", "--role", "admin", "--password-file", str(password_file)]
    subprocess.run(create, env=environment, check=True, capture_output=True)
    server = [sys.executable, "-m", "wallwatch_backend.cli.serve"]
    command = ["env", *[f"{name}={value}" for name, value in environment.items()], *server, "--port", str(port)]

    def ready() -> bool:
        try:
            return httpx.get(f"{url}/-/ready", timeout=2).status_code == 200
        except httpx.HTTPError:
            return False

    with running("backend", die_with_parent(command, SIGTERM), folder / "backend.log", ready, SIGTERM):
        yield browser.environment(folder, url, "admin", password)


def measured_by(script: Path, environment: dict[str, str]) -> Any:
    """Run a browser script and return what it measured."""
    done = subprocess.run(["node", str(script)], env=environment, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)


def main() -> None:
    """Measure and report."""
    with (
        tempfile.TemporaryDirectory(prefix="ww-bench-") as folder,
        telemetry_path.start(Path(folder), partitions=1) as path,
        serving(path, Path(folder)) as environment,
    ):
        seed(path, 1)
        nearly_empty = measured_by(SCRIPT, {**environment, "RNICS": "1", "RUNS": str(RUNS)})
        seed(path, RNICS)
        measured = measured_by(SCRIPT, {**environment, "RNICS": str(RNICS), "RUNS": str(RUNS)})
    runs = measured["runs"]
    reference_ms = percentile([run["fleet_ms"] for run in nearly_empty["runs"]], 0.5)
    frames = [float(one) for one in measured["frames_ms"]]
    report(
        "fleet_paint",
        fleet_painted_ms_p50=percentile([run["fleet_ms"] for run in runs], 0.5),
        reference_painted_ms_p50=reference_ms,
        painted_to_reference=percentile([run["fleet_ms"] for run in runs], 0.5) / reference_ms,
        fleet_painted_ms_max=max(run["fleet_ms"] for run in runs),
        first_contentful_paint_ms_p50=percentile([run["first_contentful_ms"] for run in runs], 0.5),
        fleet_request_ms_p50=percentile([run["fleet_request_ms"] for run in runs], 0.5),
        pan_frame_ms_p50=percentile(frames, 0.5),
        pan_frame_ms_p95=percentile(frames, 0.95),
        rnics=RNICS,
        runs=len(runs),
        browser="headless Chromium, cold cache",
    )


if __name__ == "__main__":
    main()
