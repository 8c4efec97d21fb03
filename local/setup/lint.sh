# shellcheck shell=bash
# Tools that only the lint stages require, installed separately so that a first `make demo` does not wait for them.

GOLANGCI_LINT_VERSION=v2.15.0

# Its checks support the language version of the Go that built it, so a newer Go triggers a rebuild.
setup_lint() {
  local inputs
  inputs=$(hash_of "$GOLANGCI_LINT_VERSION" "$(go_version)")
  unchanged golangci-lint "$inputs" && [ -x "$TOOLS/bin/golangci-lint" ] && return
  say lint "building golangci-lint (about two minutes)"
  run_logged golangci-lint "check that this machine reaches its Go module proxy" \
    env GOBIN="$TOOLS/bin" GOFLAGS= go install "github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$GOLANGCI_LINT_VERSION"
  stamp golangci-lint "$inputs"
}
