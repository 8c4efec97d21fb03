#!/usr/bin/env bash
# Runs every stage even when an earlier one failed, and ends with each runner's own summary. Exit code 1 when any stage failed.
# Usage: local/test.sh [--only GROUP]   groups of stages: lint go frontend python e2e
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=local/setup/common.sh
. "$here/setup/common.sh"
cd "$REPO"
[ "$(id -u)" = 0 ] || echo "not root: tests that open mounts or network namespaces will fail" >&2
export PATH="$REPO/.venv/bin:$PATH" CI=${CI:-true} GOFLAGS=-mod=readonly
RESULTS="$LOCAL/test-logs"
rm -rf "$RESULTS" && mkdir -p "$RESULTS"
only=${2:-}
# shellcheck source=local/stages.sh
. "$here/stages.sh"

in_collectors() { (cd collectors && "$@"); }
in_frontend() { (cd frontend && "$@"); }

# go test names every package; its closing line for the whole is made from these.
go_test() {
  local output="$RESULTS/go-test.txt" code
  in_collectors go test -count=1 ./... >"$output" 2>&1
  code=$?
  grep -v 'no test files' "$output"
  echo "go test: $(grep -c '^ok' "$output") packages passed, $(grep -cE '^(FAIL|---? FAIL|panic)' "$output") lines of failure"
  return $code
}

gofmt_check() {
  local unformatted
  unformatted=$(gofmt -l collectors)
  [ -z "$unformatted" ] || { printf 'not in gofmt form (make format):\n%s\n' "$unformatted"; return 1; }
}

# Without what setup installs, every stage would fail for the same reason.
"$here/setup.sh" </dev/null && "$here/setup.sh" lint </dev/null || exit 1
stage lint gofmt gofmt_check
stage lint golangci-lint in_collectors golangci-lint run ./...
stage lint ruff ruff check .
stage lint ruff-format ruff format --check .
stage lint mypy mypy
stage lint imports lint-imports
stage lint eslint in_frontend npm run --silent lint
stage lint typecheck in_frontend npm run --silent typecheck
stage lint frontend-imports in_frontend npm run --silent arch
stage lint generated "$here/generate.sh" --check
stage go go-test go_test
stage frontend vitest in_frontend npm run --silent test
stage python pytest pytest -q --durations=30 --durations-min=5
compgen -G 'tests/e2e/specs/*.ts' >/dev/null && stage e2e playwright tests/e2e/run

sum_up go-test vitest pytest playwright
