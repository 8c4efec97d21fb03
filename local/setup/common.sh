# shellcheck shell=bash
# Shared by all setup steps: progress lines, errors that say what to do, and stamps to skip unchanged steps.

REPO=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
LOCAL="$REPO/.local"
TOOLS=${WALLWATCH_TOOLS_DIR:-$LOCAL/tools}
STAMPS="$TOOLS/stamps"
LOGS="$LOCAL/setup-logs"
mkdir -p "$TOOLS/bin" "$STAMPS" "$LOGS"
export PATH="$TOOLS/bin:$PATH"
# go.mod names the toolchain it needs; Debian's Go would not fetch it by itself.
export GOTOOLCHAIN=${GOTOOLCHAIN:-auto}

say() { printf '  %-14s %s\n' "$1" "$2"; }

# fail STEP WHAT HOW: stops setup, with what is missing and how to get it.
fail() {
  printf '\nsetup stopped at "%s": %s\n  What to do: %s\n' "$1" "$2" "$3" >&2
  exit 1
}

need_root() {
  [ "$(id -u)" = 0 ] || fail "$1" "$2 has to be installed, and only root can do that" "run 'sudo make setup' once, or install it yourself and run again"
}

# hash_of TEXT... : one hash of the given words and of every file and folder named after them with '@'.
hash_of() {
  {
    for word in "$@"; do
      case $word in
        @*) find "${word#@}" -name node_modules -prune -o -name dist -prune -o -name '*.tsbuildinfo' -prune -o -name schema.d.ts -prune -o -type f -print0 2>/dev/null \
              | LC_ALL=C sort -z | xargs -0 -r sha256sum ;;
        *) echo "$word" ;;
      esac
    done
  } | sha256sum | cut -d' ' -f1
}

# unchanged STEP HASH: true when the step was completed with the same inputs.
unchanged() { [ "$(cat "$STAMPS/$1" 2>/dev/null)" = "$2" ]; }
stamp() { echo "$2" >"$STAMPS/$1"; }

# run_logged STEP WHAT-TO-DO COMMAND...: runs a command with its output in a log; on failure shows the log's end.
run_logged() {
  local step=$1 advice=$2 log="$LOGS/$1.log"
  shift 2
  if ! "$@" >"$log" 2>&1 </dev/null; then
    printf '\n--- the end of %s\n' "$log" >&2
    tail -n 25 "$log" >&2
    fail "$step" "'$1' failed" "$advice (full log: $log)"
  fi
}

version_at_least() { [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n1)" = "$2" ]; }
