"""What Prometheus reads of a job."""

import subprocess
import sys

_SCRAPE = """
import sys, urllib.request
from wallwatch.jobs.metrics import CAMPAIGNS, serve
from wallwatch_local.ports import free_ports
port, = free_ports(1)
serve(port)
CAMPAIGNS.labels("done").inc()
sys.stdout.write(urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60).read().decode())
"""


def test_a_counter_is_one_series_without_the_time_of_its_creation() -> None:
    """In a process of its own: the setting is one for all tests of this one."""
    text = subprocess.run([sys.executable, "-c", _SCRAPE], check=True, capture_output=True, text=True, timeout=120).stdout
    assert 'wallwatch_lab_campaigns_total{state="done"} 1.0' in text
    assert "_created" not in text
