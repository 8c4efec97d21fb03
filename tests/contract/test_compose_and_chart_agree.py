"""docker-compose.yml and the Helm chart describe the same services."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

import chart_settings
from wallwatch.jobs.kafka_access import LIMITED, VARIABLE_PREFIX
from wallwatch.settings import Settings as JobSettings
from wallwatch.store.role_passwords import PREFIX
from wallwatch.store.roles import DatabaseRole
from wallwatch_backend.settings import Settings as BackendSettings
from wallwatch_local.paths import REPOSITORY


def chart_containers(manifests: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    pods = [m["spec"]["template"]["spec"] for m in manifests if "template" in m.get("spec", {})]
    return {container["name"]: container for pod in pods for container in pod["containers"]}


# The chart's broker gets its certificates from a Secret, which Helm makes.
COMPOSE_ONLY = {"kafka-certificates"}


def same_name(variable: str) -> str:
    """Compose gives passwords as variables, because it has no files that only one user can read; the chart as files."""
    return variable.replace("_PASSWORD_FILE", "_PASSWORD")


def test_the_compose_file_satisfies_the_compose_specification(compose: dict[str, Any]) -> None:
    assert set(compose["services"]) == COMPOSE_ONLY | {
        "kafka",
        "timescaledb",
        "migrate",
        "ingest",
        "classify",
        "isolation",
        "validate",
        "forecast",
        "lab",
        "backend",
        "telegraf",
        "agent",
    }


def test_a_wrong_compose_file_would_be_found(composecheck: Path, tmp_path: Path) -> None:
    wrong = tmp_path / "docker-compose.yml"
    wrong.write_text("services: {a: {image: x, depends_on: [b]}}\n")
    done = subprocess.run([str(composecheck), str(wrong)], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "b" in done.stderr


def test_the_file_of_probes_shares_their_delays_with_the_collector_and_nothing_else(
    composecheck: Path, passwords: dict[str, str], tmp_path: Path
) -> None:
    files = {"WALLWATCH_PROBES_FLEET": str(tmp_path / "fleet.yaml"), "WALLWATCH_PROBES_KEY": str(tmp_path / "key")}
    command = [str(composecheck), str(REPOSITORY / "docker-compose.yml"), str(REPOSITORY / "docker" / "probes.yml")]
    environment = {"PATH": "/usr/bin:/bin", **passwords, **files}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    services = json.loads(done.stdout)["services"]
    mounts = {
        name: {mount["target"]: mount.get("read_only", False) for mount in services[name]["volumes"] if "wallwatch-" in mount["target"]}
        for name in ("agent", "telegraf")
    }
    assert mounts["agent"]["/run/wallwatch-agent"] is False
    assert mounts["agent"]["/etc/wallwatch-probes/fleet.yaml"] is True
    assert mounts["agent"]["/etc/wallwatch-probes/key/key"] is True
    assert mounts["telegraf"]["/run/wallwatch-agent"] is True
    assert not [target for target in mounts["telegraf"] if "probes" in target]
    assert services["agent"]["environment"]["WALLWATCH_PROBES"] == "true"
    assert services["agent"]["cap_drop"] == ["ALL"]
    assert "cap_add" not in services["agent"]


def test_without_a_database_password_compose_says_what_to_set(composecheck: Path) -> None:
    command = [str(composecheck), str(REPOSITORY / "docker-compose.yml")]
    done = subprocess.run(command, capture_output=True, text=True, env={"PATH": "/usr/bin:/bin"}, check=False)
    assert done.returncode == 1
    assert re.search(r"WALLWATCH_\w+_PASSWORD\w* is missing a value: set it in .env", done.stderr)


def test_both_name_the_same_services(compose: dict[str, Any], manifests: list[dict[str, Any]]) -> None:
    assert set(compose["services"]) == set(chart_containers(manifests)) | COMPOSE_ONLY


def test_both_give_each_service_the_same_environment_variables(compose: dict[str, Any], manifests: list[dict[str, Any]]) -> None:
    for name, container in chart_containers(manifests).items():
        in_chart = {same_name(entry["name"]) for entry in container.get("env", [])}
        assert in_chart == set(compose["services"][name].get("environment") or {}), name


def test_every_variable_of_the_server_side_is_a_setting_of_the_process_that_gets_it(compose: dict[str, Any]) -> None:
    jobs = {f"WALLWATCH_{name.upper()}" for name in JobSettings.model_fields}
    backend = {f"WALLWATCH_{name.upper()}" for name in BackendSettings.model_fields}
    known = {
        "migrate": jobs
        | {"WALLWATCH_DATABASE_ADMIN_URL", *(f"{PREFIX}{role.name.upper()}" for role in DatabaseRole)}
        | {f"{VARIABLE_PREFIX}{role.name.upper()}" for role in LIMITED},
        "ingest": jobs,
        "classify": jobs,
        "isolation": jobs,
        "validate": jobs,
        "forecast": jobs,
        "lab": jobs,
        "backend": backend | {"WALLWATCH_API_URL"},
    }
    for name, settings in known.items():
        assert set(compose["services"][name]["environment"]) <= settings, name


CENTRAL_PROCESSES = {"ingest", "classify", "isolation", "validate", "forecast", "lab", "backend"}


def test_both_take_every_setting(render_chart: Any, compose: dict[str, Any], manifests: list[dict[str, Any]]) -> None:
    done = render_chart("--set", "lab.enabled=true", *(f"--set-string=settings.{name}=1800000" for name in chart_settings.names()))
    assert done.returncode == 0, done.stderr
    rendered = chart_containers([document for document in yaml.safe_load_all(done.stdout) if document])
    for name, container in chart_containers(manifests).items():
        further = {entry["name"]: entry["value"] for entry in rendered[name].get("env", []) if entry not in container.get("env", [])}
        assert further == dict.fromkeys(chart_settings.names() if name in CENTRAL_PROCESSES else [], "1800000"), name
        assert len({entry["name"] for entry in rendered[name].get("env", [])}) == len(rendered[name].get("env", [])), name
    every = {f"WALLWATCH_{name.upper()}" for settings in (JobSettings, BackendSettings) for name in settings.model_fields}
    decided = {variable for name in CENTRAL_PROCESSES for variable in compose["services"][name]["environment"]}
    assert {name for name in every - decided - set(chart_settings.names()) if not name.startswith("WALLWATCH_KAFKA_")} == set()
    services = yaml.safe_load((REPOSITORY / "docker-compose.yml").read_text())["services"]
    further_file = [{"path": "settings.env", "required": False}]
    assert [name for name in CENTRAL_PROCESSES if services[name].get("env_file") != further_file] == []


@pytest.mark.parametrize("name", ["WALLWATCH_SIGNIN_WINDOW_S", "WALLWATCH_PUBLIC_URL", "PATH"])
def test_the_chart_refuses_what_is_no_setting_or_has_a_value_of_its_own(render_chart: Any, name: str) -> None:
    done = render_chart("--set-string", f"settings.{name}=1")
    assert done.returncode != 0
    assert name in done.stderr


def test_both_run_the_same_image_and_command(compose: dict[str, Any], manifests: list[dict[str, Any]]) -> None:
    for name, container in chart_containers(manifests).items():
        service = compose["services"][name]
        assert container["image"] == service["image"], name
        # What Kubernetes calls a command, Compose calls an entrypoint; an image without one runs either.
        assert container.get("command") == (service.get("entrypoint") or service.get("command")), name


def test_both_listen_on_the_same_ports(compose: dict[str, Any], manifests: list[dict[str, Any]]) -> None:
    for name, container in chart_containers(manifests).items():
        published = {port["target"] for port in compose["services"][name].get("ports", [])}
        assert published <= {port["containerPort"] for port in container.get("ports", [])}, name


def test_only_the_settings_that_differ_between_the_two_worlds_differ(compose: dict[str, Any], manifests: list[dict[str, Any]]) -> None:
    different = set()
    for name, container in chart_containers(manifests).items():
        environment = compose["services"][name].get("environment") or {}
        plain = {e["name"]: e["value"] for e in container.get("env", []) if "value" in e and same_name(e["name"]) == e["name"]}
        different |= {variable for variable, value in plain.items() if value != environment[variable]}
    assert different <= {
        "WALLWATCH_KAFKA_DATA",
        "WALLWATCH_KAFKA_INTERNAL_HOST",
        "WALLWATCH_KAFKA_BOOTSTRAP",
        "WALLWATCH_AGENT_URL",
        "WALLWATCH_ALLOWED_HOSTS",
        "WALLWATCH_PUBLIC_URL",
        "WALLWATCH_SERVER_URL",
        "WALLWATCH_HEALTH_ADDRESS",
    }


def test_the_broker_is_the_version_that_the_local_stack_runs(compose: dict[str, Any]) -> None:
    pom = (REPOSITORY / "local" / "kafka" / "pom.xml").read_text()
    version = re.search(r"<artifactId>kafka_2\.13</artifactId>\s*<version>([^<]+)</version>", pom)
    assert version is not None
    assert compose["services"]["kafka"]["image"].startswith(f"apache/kafka:{version.group(1)}@")


def test_every_image_of_others_is_pinned_by_digest(compose: dict[str, Any], manifests: list[dict[str, Any]]) -> None:
    files = [file.read_text() for file in sorted((REPOSITORY / "docker").glob("*.Dockerfile"))]
    bases = [image for text in files for image in re.findall(r"^ARG \w+_IMAGE=(\S+)$", text, re.MULTILINE)]
    assert len(bases) == 4
    stages = [stage for text in files for stage in re.findall(r"^FROM (?:--platform=\S+ )?(\S+)", text, re.MULTILINE)]
    assert all(re.fullmatch(r"\$\{\w+_IMAGE\}", stage) for stage in stages), "an image that no argument names"
    run = {service["image"] for service in compose["services"].values()} | {one["image"] for one in chart_containers(manifests).values()}
    foreign = {image for image in run if not image.startswith("wallwatch/")}
    assert len(foreign) == 2
    assert [image for image in [*bases, *foreign] if not re.fullmatch(r"[\w./-]+:[\w.-]+@sha256:[0-9a-f]{64}", image)] == []


def test_every_file_that_a_dockerfile_copies_exists() -> None:
    for dockerfile in sorted((REPOSITORY / "docker").glob("*.Dockerfile")):
        for line in dockerfile.read_text().splitlines():
            if line.startswith("COPY ") and "--from" not in line:
                for source in line.split()[1:-1]:
                    assert (REPOSITORY / source).exists(), f"{dockerfile.name}: {source}"


def test_each_process_gets_the_role_of_its_own(manifests: list[dict[str, Any]]) -> None:
    keys: dict[str, set[str]] = {}
    for name, container in chart_containers(manifests).items():
        for entry in container.get("env", []):
            if entry["name"] in ("WALLWATCH_DATABASE_URL", "WALLWATCH_DATABASE_ADMIN_URL"):
                keys.setdefault(name, set()).add(entry["valueFrom"]["secretKeyRef"]["key"])
    jobs = {job: {"jobs-url"} for job in ("classify", "isolation", "validate", "forecast", "lab")}
    assert keys == jobs | {"ingest": {"ingest-url"}, "backend": {"backend-url"}, "migrate": {"owner-url", "admin-url"}}
