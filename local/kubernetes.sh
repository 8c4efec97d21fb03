#!/usr/bin/env bash
# Builds the API server of Kubernetes with an etcd (tests/kubernetes/apiserver), and runs the tests of all that talks to it.
# The first build takes about 490 s of CPU, so no other task does it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
program=$PWD/.local/tools/bin/kube-apiserver
source=tests/kubernetes/apiserver
if [ ! -x "$program" ] || [ -n "$(find "$source" -newer "$program" -print -quit)" ]; then
  echo "building $source"
  version=$(sed -n 's|^require k8s.io/kubernetes ||p; s|^\tk8s.io/kubernetes \(v[0-9.]*\).*|\1|p' "$source/go.mod" | head -n 1)
  # Helm asks the server for its version, which only a release's own build has.
  nice -n 5 go build -C "$source" -mod=readonly -trimpath -o "$program" \
    -ldflags "-s -w -X k8s.io/component-base/version.gitVersion=$version" .
fi
WALLWATCH_KUBE_APISERVER=$program exec .venv/bin/python -m pytest -rs backend/tests/cluster tests/kubernetes "$@"
