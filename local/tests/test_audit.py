"""`make audit`: a tool that compared nothing is never taken for a clean answer. The answers have the form of the real tools' answers."""

import json
from pathlib import Path
from typing import Any

import pytest

from wallwatch_local import audit, sbom
from wallwatch_local.audit import Audit, exit_code


def test_packages_that_the_service_does_not_know_were_not_checked_although_the_tool_ends_well() -> None:
    skipped = {"name": "alembic", "skip_reason": "Dependency not found on PyPI and could not be audited: alembic (1.20.1)"}
    found = audit.python(json.dumps({"dependencies": [skipped, {"name": "anyio", "version": "4.0", "vulns": []}], "fixes": []}), "")
    assert (found.checked, found.weaknesses) == (1, [])
    assert found.problem is not None
    assert found.problem.startswith("1 of 2 packages are unknown to the database of advisories")
    assert exit_code([found]) == 3


def test_a_weakness_of_a_python_package_is_named_with_the_version_that_mends_it() -> None:
    one = {"name": "jinja2", "version": "2.0", "vulns": [{"id": "PYSEC-1", "fix_versions": ["3.1"], "aliases": [], "description": ""}]}
    found = audit.python(json.dumps({"dependencies": [one]}), "")
    assert found.weaknesses == ["jinja2 2.0: PYSEC-1, mended in 3.1"]
    assert exit_code([found, Audit("npm", problem="no answer")]) == 1


@pytest.mark.parametrize("answer", ["", "no json", "{}", '{"dependencies": []}', "[]"])
def test_an_empty_or_broken_answer_of_pip_audit_is_no_clean_one(answer: str) -> None:
    assert exit_code([audit.python(answer, "ConnectionError: no such host")]) == 3


def go_answer(*objects: dict[str, Any]) -> str:
    return "\n".join(json.dumps(one, indent=2) for one in objects)


CONFIG = {"config": {"protocol_version": "v1.0.0", "db": "https://vuln.example.net", "db_last_modified": "2026-11-01T00:00:00Z"}}
MODULES = {"SBOM": {"go_version": "go1.26.0", "modules": [{"path": "a"}, {"path": "b", "version": "v1.0.0"}]}}


def test_findings_of_go_modules_are_named_once_with_what_is_called() -> None:
    imported = {"finding": {"osv": "GO-1", "fixed_version": "v1.2.0", "trace": [{"module": "b", "version": "v1.0.0"}]}}
    called = {"finding": {"osv": "GO-1", "fixed_version": "v1.2.0", "trace": [{"module": "b", "version": "v1.0.0", "function": "F"}]}}
    found = audit.go(go_answer(CONFIG, MODULES, imported, called), "")
    assert (found.checked, found.weaknesses, found.problem) == (2, ["b v1.0.0: GO-1, mended in v1.2.0 (called)"], None)
    assert exit_code([audit.go(go_answer(CONFIG, MODULES), "")]) == 0


@pytest.mark.parametrize("answer", ["", go_answer(MODULES), go_answer(CONFIG), "{", go_answer(CONFIG, {"finding": {}})])
def test_without_the_database_of_go_nothing_was_checked(answer: str) -> None:
    found = audit.go(answer, "govulncheck: fetching vulnerabilities: no such host")
    assert found.problem == (
        "Go's database of vulnerabilities did not answer: run this where it can be reached. "
        "It said: govulncheck: fetching vulnerabilities: no such host"
    )


def test_npm_says_what_it_found_or_that_its_registry_refused() -> None:
    refused = {"message": "405 Method Not Allowed", "statusCode": 405, "error": {"summary": ""}}
    assert exit_code([audit.npm(json.dumps(refused), "npm error audit endpoint returned an error")]) == 3
    weak = {"vulnerabilities": {"x": {"range": "<2", "severity": "high"}}, "metadata": {"dependencies": {"total": 900}}}
    assert audit.npm(json.dumps(weak), "").weaknesses == ["x <2: high"]
    assert exit_code([audit.npm(json.dumps({**weak, "vulnerabilities": {}}), "")]) == 0


def test_a_tool_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(audit, "tools_dir", lambda: tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    found = audit.run()
    assert [one.kind for one in found] == ["Python", "Go", "npm"]
    assert all("is not installed: run 'make audit'" in one.text() for one in found)


@pytest.mark.parametrize(("image", "name"), [("central", "python"), ("host", "debian")])
def test_the_image_below_is_listed_with_its_digest(image: str, name: str) -> None:
    [component] = sbom.base((sbom.DOCKER / f"{image}.Dockerfile").read_text())["components"]
    assert component["name"] == name
    assert "@sha256%3A" in component["purl"]


def test_a_package_of_several_parts_is_listed_once() -> None:
    parts = [{"components": [{"type": "library", "name": "m", "version": "v1", "purl": "pkg:golang/m@v1", "evidence": {"x": 1}}]}]
    bill = sbom.merged("host", "0.1.0", parts * 2)
    assert bill["components"] == [
        {"type": "library", "name": "m", "version": "v1", "purl": "pkg:golang/m@v1", "bom-ref": "pkg:golang/m@v1"}
    ]
    assert bill == sbom.merged("host", "0.1.0", parts), "the same content has the same bytes"
    assert bill["serialNumber"] != sbom.merged("host", "0.2.0", parts)["serialNumber"]
