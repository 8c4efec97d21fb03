#!/usr/bin/env bash
# Writes all files that are generated from other sources, or with --check fails when one is out of date:
# the API's description (its TypeScript types follow), the tables of states, the schema of webhooks' bodies,
# the collectors' lists of counters, the settings that the chart takes, and the tables in docs/.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=local/setup/common.sh
. "$here/setup/common.sh"
cd "$REPO"
export PATH="$REPO/.venv/bin:$PATH"
check=${1:-}
[ -z "$check" ] || [ "$check" = --check ] || { echo "usage: local/generate.sh [--check]" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
stale=0

# settle NEW FILE: installs a generated file, or with --check reports that it differs.
settle() {
  cmp -s "$1" "$2" && return
  if [ -n "$check" ]; then
    echo "out of date: $2 (run 'make generate')" >&2
    diff -u "$2" "$1" | head -n 30 >&2
    stale=1
  else
    cp "$1" "$2"
    echo "written: $2"
  fi
}

python -m wallwatch_backend.openapi >"$work/openapi.json" || exit 1
settle "$work/openapi.json" frontend/src/lib/api/openapi.json
# The tables of states, as the catalogue serves them: the mock API and the UI's tests read them.
python -c 'from wallwatch_backend.state_tables import STATE_MACHINES; print(STATE_MACHINES.model_dump_json(indent=2))' \
  >"$work/states.json" || exit 1
settle "$work/states.json" frontend/mock/states.json
# The TypeScript types are not in git: every frontend task that uses them generates them first, and so does this script.
[ -n "$check" ] || npm --prefix frontend run --silent generate || exit 1
python -m wallwatch_backend.webhook_schema >"$work/webhook-native.schema.json" || exit 1
settle "$work/webhook-native.schema.json" docs/webhook-native.schema.json
python -m wallwatch_backend.message_schemas "$work/messages" || exit 1
mkdir -p docs/messages
for file in "$work/messages"/*; do # schemas of Kafka's messages, and the AsyncAPI document
  settle "$file" "docs/messages/$(basename "$file")"
done
registry=pipelines/wallwatch/domain/telemetry/metrics.yaml
for input in rnic ovs_offload node_exporter dts; do # names of the counters that the inputs read
  (cd collectors && go run ./internal/fieldlists -package $input ../$registry) >"$work/$input.go" || exit 1
  settle "$work/$input.go" collectors/plugins/inputs/$input/fields_generated.go
done
(cd collectors && go run ./internal/blocklayouts ../pipelines/wallwatch/domain/telemetry/blocks.yaml) >"$work/layouts.go" || exit 1
settle "$work/layouts.go" collectors/internal/blocks/layouts_generated.go
wallwatch generate docs ${check:+--check} || stale=1
python tests/support/operating_tables.py ${check:+--check} || stale=1
python tests/support/chart_settings.py ${check:+--check} || stale=1
PYTHONPATH=tests/support python -m scenario_plots.table ${check:+--check} || stale=1
[ ! -f docs/evaluation.json ] || python -m tests.evaluation.document ${check:+--check} || stale=1
[ ! -f docs/sensitivity.json ] || python -m tests.evaluation.sensitivity.document ${check:+--check} || stale=1
[ ! -f docs/forecast-evaluation.json ] || python -m tests.forecast.document ${check:+--check} || stale=1
[ ! -f docs/mutation.json ] || python -m tests.mutation.document ${check:+--check} || stale=1
exit $stale
