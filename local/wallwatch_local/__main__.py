"""``python -m wallwatch_local <command>``: the local stack's own commands; ``make`` calls them."""

from wallwatch_local.main import app

app()
