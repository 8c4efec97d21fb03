import tempfile
from pathlib import Path
import sys
from tests.bench.fleet_paint import measured_by, serving
from wallwatch_testing import telemetry_path
with tempfile.TemporaryDirectory(prefix="ww-bench-") as folder, telemetry_path.start(Path(folder), partitions=1) as path, serving(path, Path(folder), 32) as environment:
    for page in ("/", "/rnics/host00000/0000:17:00.0", "/incidents"):
        measured_by(Path("/tmp/list.mjs"), {**environment, "PAGE": page})
