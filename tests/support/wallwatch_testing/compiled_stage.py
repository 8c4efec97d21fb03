"""`pytest -p wallwatch_testing.compiled_stage`: the tests run with the compiled stages (docs/decisions/0040)."""

from wallwatch.jobs import compiled_stage

if not compiled_stage.use():
    raise RuntimeError("the stage is not compiled, or was imported before")
