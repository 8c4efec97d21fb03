#!/usr/bin/env bash
# Runs all Go tests. `go test` names every package; at the end come the failures once more and a closing line for the whole.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../collectors" || exit 1
output=$(mktemp)
trap 'rm -f "$output"' EXIT
go test -count=1 ./... >"$output" 2>&1
code=$?
grep -v 'no test files' "$output"
grep -A3 -E '^ *--- FAIL|^panic|^FAIL.*\[' "$output" | head -n 8
echo "go test: $(grep -c '^ok' "$output") packages passed, $(grep -cE '^(FAIL|---? FAIL|panic)' "$output") lines of failure"
exit $code
