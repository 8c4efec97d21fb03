#!/usr/bin/env bash
# Runs all Go tests. `go test` names every package; a closing line for the whole is made from these.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../collectors" || exit 1
output=$(mktemp)
trap 'rm -f "$output"' EXIT
go test -count=1 ./... >"$output" 2>&1
code=$?
grep -v 'no test files' "$output"
echo "go test: $(grep -c '^ok' "$output") packages passed, $(grep -cE '^(FAIL|---? FAIL|panic)' "$output") lines of failure"
exit $code
