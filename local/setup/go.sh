# shellcheck shell=bash
# Our Go programs, and cnitool for the CNI tests, into .local/tools/bin.

CNITOOL_VERSION=v1.3.0

setup_go() {
  local inputs program version commands=()
  inputs=$(hash_of "@$REPO/collectors" "@$REPO/local/setup/go.sh" "$(go_version)" "$CNITOOL_VERSION")
  for program in "$REPO"/collectors/cmd/*/; do commands+=("$(basename "$program")"); done
  if unchanged go "$inputs" && all_built "${commands[@]}" cnitool; then
    say go "programs are built"
    return
  fi
  say go "building ${commands[*]} (the first time takes some minutes)"
  version=$(sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml)+$(git rev-parse --short HEAD 2>/dev/null || echo unknown)
  for program in "${commands[@]}"; do
    run_logged "go-$program" "correct the error above, or check that this machine reaches its Go module proxy" \
      env CGO_ENABLED=0 go build -C "$REPO/collectors" -mod=readonly -trimpath -ldflags "-s -w -X main.version=$version" \
      -o "$TOOLS/bin/$program" "./cmd/$program"
  done
  [ -x "$TOOLS/bin/cnitool" ] || run_logged cnitool "check that this machine reaches its Go module proxy" \
    env GOBIN="$TOOLS/bin" GOFLAGS= go install "github.com/containernetworking/cni/cnitool@$CNITOOL_VERSION"
  stamp go "$inputs"
}

all_built() {
  local program
  for program in "$@"; do [ -x "$TOOLS/bin/$program" ] || return 1; done
}
