"""The codes of results are the same in the agent that reports them, the backend that acts on them and the contract between them."""

import re
from pathlib import Path

from wallwatch_backend.remedies.orders.results import REFUSALS
from wallwatch_backend.remedies.orders.transitions import ONLY_CLAIMED

REPOSITORY = Path(__file__).resolve().parents[2]
AGENT = REPOSITORY / "collectors/agent"
CONTRACT = REPOSITORY / "docs/contracts.md"

CONSTANT = re.compile(r'^\t(Code\w+)\s*=\s*"(\w+)"$', re.MULTILINE)
USE = re.compile(r"\b(?:\w+\.)?(Code[A-Z]\w*)\b(?!\s*=[^=])")
FAILED_WITH = re.compile(r"\bjournal\.Failed, (?:\w+\.)?(Code\w+)")


def go_source(*packages: str) -> str:
    """The Go source of packages of the agent, without tests."""
    files = [path for package in packages for path in sorted((AGENT / package).glob("*.go")) if not path.stem.endswith("_test")]
    assert files, f"no Go files in {packages}"
    return "\n".join(path.read_text(encoding="utf-8") for path in files)


def constants(*packages: str) -> dict[str, str]:
    """Name and value of each code that packages of the agent declare."""
    declared = dict(CONSTANT.findall(go_source(*packages)))
    assert declared, f"codes are declared in another way in {packages} than this test looks for"
    return declared


def in_the_contract(state: str) -> set[str]:
    """Codes that docs/contracts.md lists for a state of a result."""
    section = CONTRACT.read_text(encoding="utf-8").split("Codes of a result:")[1]
    entry = re.search(rf"^- `{state}`:(.*?)(?=^- |^$)", section, re.MULTILINE | re.DOTALL)
    assert entry, f"{CONTRACT.name} has no codes for {state}"
    return set(re.findall(r"`(\w+)`", entry[1]))


def test_the_backend_knows_exactly_the_refusals_that_the_agent_can_report() -> None:
    assert set(constants("command", "remedies").values()) == REFUSALS


def test_the_contract_lists_exactly_the_refusals_that_the_backend_knows() -> None:
    assert in_the_contract("refused") == REFUSALS


def test_the_contract_lists_exactly_the_failures_that_the_agent_can_report() -> None:
    values = constants("command", "remedies", "execution")
    failed = set(constants("execution").values()) | {values[name] for name in FAILED_WITH.findall(go_source("execution"))}
    assert failed == in_the_contract("failed")


def test_only_what_the_command_decoder_rejects_names_ids_that_nobody_has_proven() -> None:
    assert set(constants("command").values()) >= ONLY_CLAIMED


def test_the_agent_declares_no_code_that_it_never_reports() -> None:
    packages = ("command", "remedies", "execution")
    assert set(USE.findall(go_source(*packages))) == set(constants(*packages))
