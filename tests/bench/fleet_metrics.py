"""`/metrics/fleet` for the paper's fleet: 40,000 RNICs with all walls, read by one scraper from a real backend.

WALLWATCH_BENCH_RUNS is the number of scrapes of each kind (5).
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from signal import SIGTERM

import httpx
import psycopg
from tests.bench.api_token import token
from tests.bench.processes import usage
from tests.bench.report import percentile, report

from wallwatch.domain.catalogue import load
from wallwatch_local import ports, postgres
from wallwatch_local.processes import die_with_parent, running

RNICS = 40_000
RUNS = int(os.environ.get("WALLWATCH_BENCH_RUNS", "5"))
WALLWATCH = str(Path(sys.executable).with_name("wallwatch"))
# 8,000 hosts of 5 RNICs, 16 hosts per rack; 1 in 200 with a symptom.
SEED = """
WITH new AS (
  INSERT INTO rnic (host, pci, rack, model, driver, fw_ver)
  SELECT 'host' || lpad((i / 5)::text, 5, '0'), '0000:' || (ARRAY['17', '3b', '5e', '86', 'af'])[i %% 5 + 1] || ':00.0',
         'r' || lpad((i / 80)::text, 3, '0'), (ARRAY['CX-4', 'CX-5', 'CX-6', 'CX-7', 'BF-3', 'E810'])[i %% 6 + 1],
         'mlx5_core', '22.36.' || i %% 20
  FROM generate_series(0, %(rnics)s - 1) AS i RETURNING *)
INSERT INTO rnic_state (rnic_id, host, pci, rack, model, walls, headroom, symptoms, seen_at, change_seq)
SELECT rnic_id, host, pci, rack, model,
       (SELECT jsonb_object_agg(wall, jsonb_build_object(
          'value', rnic_id %% 7000, 'limit', 7200, 'headroom', 1 - (rnic_id %% 7000) / 7200.0, 'basis', 'paper'))
        FROM unnest(%(walls)s::text[]) AS wall),
       0.5, CASE WHEN rnic_id %% 200 = 0 THEN '{"S6": {"since": "2026-01-01T00:00:00Z", "severity": "warning"}}'::jsonb
                 ELSE '{}'::jsonb END, now(), rnic_id
FROM new
"""


def scrape(url: str, token: str, encoding: str) -> tuple[float, float, int, int]:
    """Seconds to the first byte and to the last, bytes on the wire, samples."""
    headers = {"Authorization": f"Bearer {token}", "Accept-Encoding": encoding}
    started = time.monotonic()
    with httpx.stream("GET", f"{url}/metrics/fleet", headers=headers, timeout=120) as answer:
        answer.raise_for_status()
        first, samples = time.monotonic() - started, 0
        for piece in answer.iter_bytes():
            samples += piece.count(b"\n")
    return first, time.monotonic() - started, answer.num_bytes_downloaded, samples


def main() -> None:
    """Measure and report."""
    with tempfile.TemporaryDirectory(prefix="ww-bench-") as folder, postgres.start(Path(folder) / "postgres") as database_url:
        environment = os.environ | {
            "WALLWATCH_DATABASE_URL": database_url,
            "WALLWATCH_SECRETS_DIR": f"{folder}/secrets",
            "WALLWATCH_BACKGROUND": "false",
        }
        subprocess.run([WALLWATCH, "db", "upgrade"], env=environment, check=True, capture_output=True)
        secret = token(environment)
        with psycopg.connect(database_url.replace("+psycopg", ""), autocommit=True) as connection:
            connection.execute(SEED, {"rnics": RNICS, "walls": list(load.walls())})
            connection.execute("ANALYZE rnic_state")
        [port] = ports.free_ports(1)
        url = f"http://127.0.0.1:{port}"
        server = [sys.executable, "-m", "wallwatch_backend.cli.serve"]
        command = ["env", *[f"{name}={value}" for name, value in environment.items() if name.startswith("WALLWATCH_")], *server]

        def alive() -> bool:
            try:
                return httpx.get(f"{url}/-/healthy", timeout=2).status_code == 200
            except httpx.HTTPError:
                return False

        arguments = [*command, "--port", str(port)]
        with running("backend", die_with_parent(arguments, SIGTERM), Path(folder) / "backend.log", alive, SIGTERM) as process:
            scrape(url, secret, "identity")
            before = usage(process.pid)
            plain = [scrape(url, secret, "identity") for _ in range(RUNS)]
            between = usage(process.pid)
            packed = [scrape(url, secret, "gzip") for _ in range(RUNS)]
            after = usage(process.pid)
    report(
        "fleet_metrics",
        scrape_s_p50=percentile([total for _, total, _, _ in plain], 0.5),
        scrape_s_max=max(total for _, total, _, _ in plain),
        scrape_gzip_s_p50=percentile([total for _, total, _, _ in packed], 0.5),
        first_byte_s_p50=percentile([first for first, _, _, _ in plain], 0.5),
        backend_cpu_s_a_scrape=(between.cpu_s - before.cpu_s) / RUNS,
        backend_cpu_gzip_s_a_scrape=(after.cpu_s - between.cpu_s) / RUNS,
        size_mb=plain[0][2] / 1e6,
        size_gzip_mb=packed[0][2] / 1e6,
        lines=plain[0][3],
        backend_peak_rss_mb=after.peak_rss_mb,
        backend_rss_before_mb=before.rss_mb,
        rnics=RNICS,
        runs=RUNS,
    )


if __name__ == "__main__":
    main()
