# shellcheck shell=bash
# One Python environment, .venv, with exactly the locked packages, and our packages in it as editable.

export UV_PYTHON_DOWNLOADS=never UV_NO_PROGRESS=1

setup_uv() {
  command -v uv >/dev/null && return
  say python "installing uv, which installs the locked packages"
  python3 -c 'import ensurepip, venv' 2>/dev/null || apt_install python-venv python3-venv
  run_logged uv "check that this machine reaches its Python package index" bash -c \
    "python3 -m venv '$TOOLS/uv' && '$TOOLS/uv/bin/pip' install --quiet uv && ln -sf '$TOOLS/uv/bin/uv' '$TOOLS/bin/uv'"
}

setup_python() {
  local inputs advice="check that this machine reaches its Python package index, then run again"
  setup_uv
  inputs=$(hash_of "@$REPO/requirements.lock" "@$REPO/pyproject.toml" "$REPO" "$(python_version)")
  if [ -x .venv/bin/wallwatch ] && [ "$(cat .venv/wallwatch-stamp 2>/dev/null)" = "$inputs" ]; then
    say python "packages are as locked"
    return
  fi
  say python "installing the locked packages into .venv"
  [ -x .venv/bin/python ] || run_logged venv "remove the folder .venv and run again" uv venv --quiet --python python3 .venv
  run_logged python "$advice" env VIRTUAL_ENV="$REPO/.venv" uv pip sync --quiet --require-hashes requirements.lock
  run_logged python-own "$advice" env VIRTUAL_ENV="$REPO/.venv" uv pip install --quiet --no-deps -e .
  # The first process that calls these loops would compile them, and whatever waits for it would wait longer.
  run_logged compile-rows "run again; if it fails again, report it with the log" .venv/bin/python -m wallwatch.store.compile_rows
  # Optional: classify and isolation do the same without it, with more CPU.
  .venv/bin/python -m wallwatch.jobs.compile_stage >"$LOGS/compile-stage.log" 2>&1 </dev/null \
    || say python "classify and isolation run as plain Python, their stages could not be compiled (log: $LOGS/compile-stage.log)"
  echo "$inputs" >.venv/wallwatch-stamp # in the environment itself, so that it goes with it
}
