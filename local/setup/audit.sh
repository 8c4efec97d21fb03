# shellcheck shell=bash
# Tools of `make audit` and `make sbom`, installed separately: nothing else requires them.

GOVULNCHECK_VERSION=v1.9.0
CYCLONEDX_GOMOD_VERSION=v1.10.0

setup_audit() {
  local inputs
  inputs=$(hash_of "@$REPO/local/audit/requirements.lock" "$GOVULNCHECK_VERSION" "$CYCLONEDX_GOMOD_VERSION" "$(go_version)")
  unchanged audit "$inputs" && [ -x "$TOOLS/audit/bin/pip-audit" ] && return
  say audit "installing pip-audit, cyclonedx-bom, govulncheck and cyclonedx-gomod"
  setup_uv
  [ -x "$TOOLS/audit/bin/python" ] || run_logged audit-venv "remove the folder $TOOLS/audit and run again" uv venv --quiet --python python3 "$TOOLS/audit"
  run_logged audit-python "check that this machine reaches its Python package index" \
    env VIRTUAL_ENV="$TOOLS/audit" uv pip sync --quiet --require-hashes "$REPO/local/audit/requirements.lock"
  for program in "golang.org/x/vuln/cmd/govulncheck@$GOVULNCHECK_VERSION" \
    "github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@$CYCLONEDX_GOMOD_VERSION"; do
    run_logged audit-go "check that this machine reaches its Go module proxy" env GOBIN="$TOOLS/bin" GOFLAGS= go install "$program"
  done
  stamp audit "$inputs"
}
