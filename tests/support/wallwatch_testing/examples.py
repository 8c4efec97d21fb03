"""Which modules have examples in their docstrings: found in the source, so that the others need not be imported."""

from importlib.util import find_spec
from pathlib import Path


def modules_with_examples(package: str) -> list[str]:
    """Dotted names of the modules below a package whose source has a doctest's prompt.

    >>> "wallwatch_testing.examples" in modules_with_examples("wallwatch_testing")
    True
    """
    spec = find_spec(package)
    assert spec is not None, f"{package} is not installed"
    assert spec.submodule_search_locations, f"{package} is no package"
    root = Path(spec.submodule_search_locations[0])
    files = (file for file in sorted(root.rglob("*.py")) if ">>> " in file.read_text(encoding="utf-8"))
    return [".".join((package, *file.relative_to(root).with_suffix("").parts)).removesuffix(".__init__") for file in files]
