"""Generated files are up to date: API description, tables of metrics and symptoms, tables of settings and scenarios."""

import json
import subprocess
import sys
from pathlib import Path

import chart_settings
import operating_tables
from scenario_plots import table
from wallwatch_backend.api import new_api
from wallwatch_backend.state_tables import STATE_MACHINES
from wallwatch_local.paths import REPOSITORY


def test_the_checked_in_openapi_document_is_the_one_of_the_app() -> None:
    checked_in = json.loads((REPOSITORY / "frontend/src/lib/api/openapi.json").read_text())
    assert checked_in == json.loads(json.dumps(new_api().openapi()))


def test_the_mock_of_the_api_has_the_state_tables_that_the_catalogue_serves() -> None:
    mocked = json.loads((REPOSITORY / "frontend/mock/states.json").read_text())
    assert mocked == STATE_MACHINES.model_dump(mode="json")


def test_the_tables_of_metrics_and_symptoms_are_up_to_date() -> None:
    wallwatch = str(Path(sys.executable).with_name("wallwatch"))
    done = subprocess.run([wallwatch, "generate", "docs", "--check"], cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_tables_of_settings_are_up_to_date() -> None:
    assert operating_tables.main(["--check"]) == 0


def test_the_chart_takes_every_setting_that_it_does_not_set_itself() -> None:
    assert chart_settings.main(["--check"]) == 0


def test_a_changed_setting_would_be_found(tmp_path: Path) -> None:
    page = tmp_path / "operating.md"
    page.write_text(operating_tables.PAGE.read_text().replace("`WALLWATCH_STATE_DIR`", "`WALLWATCH_STATE_FOLDER`"))
    assert operating_tables.main(["--check"], page) == 1


def test_the_catalogue_of_scenarios_is_up_to_date() -> None:
    assert table.main(["--check"]) == 0


def test_a_scenario_that_was_never_recorded_is_in_the_catalogue_all_the_same() -> None:
    row = table.row(table.SCENARIOS / "s6.yaml", None)
    assert row.startswith("| `s6` | ")
    assert "not recorded yet" in row
