#!/usr/bin/env bash
# Builds the API server of Kubernetes with an etcd (tests/kubernetes/apiserver), the part of a kubelet that `kubectl exec` reaches, and kubectl,
# and runs the tests of all that talks to it. The first build takes about 520 s of CPU, so no other task does it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
programs=$PWD/.local/tools/bin
source=tests/kubernetes/apiserver
version=$(sed -n 's|^require k8s.io/kubernetes ||p; s|^\tk8s.io/kubernetes \(v[0-9.]*\).*|\1|p' "$source/go.mod" | head -n 1)
build() { # program, package
  if [ -x "$programs/$1" ] && [ -z "$(find "$source" -newer "$programs/$1" -print -quit)" ]; then return; fi
  echo "building $1 of $source"
  # Helm asks the server for its version, which only a release's own build has.
  nice -n 5 go build -C "$source" -mod=readonly -trimpath -o "$programs/$1" \
    -ldflags "-s -w -X k8s.io/component-base/version.gitVersion=$version" "$2"
}
build kube-apiserver .
build kubelet-streams ./kubelet
build kubectl k8s.io/kubernetes/cmd/kubectl
WALLWATCH_KUBE_APISERVER=$programs/kube-apiserver exec .venv/bin/python -m pytest -rs backend/tests/cluster tests/kubernetes "$@"
