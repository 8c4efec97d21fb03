#!/usr/bin/env bash
# Installs everything that the demo and the tests require, with one line of progress per step. A step whose inputs have not changed is skipped.
# Usage: local/setup.sh [STEP...]    default: all steps except lint, which the tests run, audit, faults, images and clients
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=local/setup/common.sh
. "$here/setup/common.sh"
for part in apt runtimes postgres python kafka go frontend lint audit faults images clients; do
  # shellcheck disable=SC1090
  . "$here/setup/$part.sh"
done

cd "$REPO"
[ $# -gt 0 ] || set -- system runtimes postgres python kafka go frontend
for step in "$@"; do
  case $step in
    system | runtimes | postgres | python | kafka | go | frontend | lint | audit | faults | images | clients) "setup_$step" ;;
    *) fail setup "there is no step '$step'" "choose from: system runtimes postgres python kafka go frontend lint audit faults images clients" ;;
  esac
done
