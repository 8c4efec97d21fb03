#!/usr/bin/env bash
# Installs missing tools, then runs the tests of all parts or of the named ones; exit code 1 when any stage failed.
# Usage: local/test.sh [PART...]    local/test.sh --fast    an unknown part prints the list of parts
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=local/setup/common.sh
. "$here/setup/common.sh"
cd "$REPO"
fast=""
[ "${1:-}" != --fast ] || fast=yes
[ -n "$fast" ] || [ "$(id -u)" = 0 ] || echo "not root: tests that open mounts or network namespaces will fail" >&2
# In CI somebody has to say where the reference data is, or that there is `none`; elsewhere the tests that need it are skipped.
[ -n "${CI:-}" ] || export WALLWATCH_EXTERNAL_DATA=${WALLWATCH_EXTERNAL_DATA:-none}
export PYTHONDONTWRITEBYTECODE= # see the Makefile
export PATH="$REPO/.venv/bin:$PATH" CI=${CI:-true} GOFLAGS=-mod=readonly
if [ -n "$fast" ]; then
  # Nothing is built: one `make setup` installs everything that the fast tests require.
  [ -x .venv/bin/pytest ] && [ -d frontend/node_modules ] || fail test-fast "the packages of the tests are not installed" "run 'make setup' once"
else
  # Without a complete setup, every stage would fail for the same reason.
  "$here/setup.sh" </dev/null
  case " ${*:-lint} " in *" lint "*) "$here/setup.sh" lint </dev/null ;; esac
fi
exec python -m wallwatch_local test "$@"
