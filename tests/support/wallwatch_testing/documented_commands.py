"""Commands of the documents, as a reader would copy them."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

_BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SPAN = re.compile(r"(?<!`)`((?:kubectl|helm) [^`]+)`(?!`)")


def blocks(document: Path) -> list[str]:
    """The shell blocks of a document."""
    return _BLOCK.findall(document.read_text())


def spans(document: Path) -> list[str]:
    """Whole commands of kubectl and Helm inside of sentences; a name such as `helm upgrade` is none."""
    text = _BLOCK.sub("", document.read_text())
    found = (" ".join(span.split()) for span in _SPAN.findall(text))
    return [span for span in found if len(span.split()) > 2]


def commands(block: str) -> Iterator[str]:
    """The commands of a block: a loop or a line that goes on is one.

    >>> list(commands("a \\\\\\n  b\\nfor x in 1; do\\n  c; done  # each\\nd\\n"))
    ['a \\\\\\n  b', 'for x in 1; do\\n  c; done  # each', 'd']
    """
    lines: list[str] = []
    for line in block.splitlines():
        lines.append(line)
        text = "\n".join(lines)
        if (
            not line.endswith("\\")
            and text.strip()
            and subprocess.run(["bash", "-n"], input=text, text=True, capture_output=True).returncode == 0
        ):
            yield text
            lines = []
    assert not lines, f"{lines} is no command"
