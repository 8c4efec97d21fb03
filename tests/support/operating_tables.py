"""Writes the tables of settings in docs/operating.md from the settings classes (with `--check`, it only compares)."""

import re
import sys
from functools import partial
from pathlib import Path

from pydantic_core import PydanticUndefined
from pydantic_settings import BaseSettings

from wallwatch.settings import Settings as JobSettings
from wallwatch_backend.settings import Settings as BackendSettings
from wallwatch_local.paths import REPOSITORY

PAGE = REPOSITORY / "docs" / "operating.md"
SETTINGS: dict[str, type[BaseSettings]] = {"jobs": JobSettings, "backend": BackendSettings}


def settings_table(settings: type[BaseSettings]) -> str:
    """Markdown table of a settings class: variable, default, meaning."""
    lines = ["| variable | default | meaning |", "|---|---|---|"]
    for name, field in settings.model_fields.items():
        default = "required" if field.default is PydanticUndefined else "" if field.default is None else f"`{field.default}`"
        lines.append(f"| `WALLWATCH_{name.upper()}` | {default} | {field.description or name.replace('_', ' ')} |")
    return "\n".join(lines)


def _filled(content: str, between: re.Match[str]) -> str:
    return f"{between[1]}{content}\n{between[2]}"


def with_tables(page: str) -> str:
    """Replace the generated sections of the page, which lie between markers."""
    tables = {f"settings:{name}": settings_table(settings) for name, settings in SETTINGS.items()}
    for name, table in tables.items():
        kind = name.partition(":")[0]
        page, found = re.subn(rf"(<!-- {name} -->\n).*?(<!-- /{kind} -->)", partial(_filled, table), page, flags=re.DOTALL)
        if found != 1:
            raise ValueError(f"docs/operating.md has no section <!-- {name} --> ... <!-- /{kind} -->")
    return page


def main(arguments: list[str], page: Path = PAGE) -> int:
    """Write or compare; 1 when the page is out of date."""
    old = page.read_text()
    new = with_tables(old)
    if "--check" in arguments:
        if new != old:
            print("docs/operating.md is out of date: run 'make generate'", file=sys.stderr)
        return int(new != old)
    page.write_text(new)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
