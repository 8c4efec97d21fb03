#!/usr/bin/env bash
# Fails when a Go source is not in gofmt's form.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
unformatted=$(gofmt -l collectors)
[ -z "$unformatted" ] || { printf 'not in gofmt form (make format):\n%s\n' "$unformatted"; exit 1; }
