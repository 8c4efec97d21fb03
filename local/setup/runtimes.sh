# shellcheck shell=bash
# The languages: Python 3.11+, Go 1.24+, Node 20+, a JDK 17+. Any installation will do; Debian 13's packages are new enough.

python_version() { python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null; }
go_version() { go env GOVERSION 2>/dev/null | sed 's/^go//'; }
node_version() { node --version 2>/dev/null | sed 's/^v//'; }
java_version() { java -version 2>&1 | sed -n 's/.*version "\([0-9.]*\).*/\1/p'; }

# want NAME FUNCTION MINIMUM WHERE-TO-GET PACKAGE...: checks a version; installs the packages when it is too old or missing.
want() {
  local name=$1 find=$2 minimum=$3 advice=$4 found
  shift 4
  found=$($find || true)
  if [ -z "$found" ] || ! version_at_least "$found" "$minimum"; then
    apt_has "$@" || { have_apt && [ "$(id -u)" = 0 ] && apt_refresh; }
    apt_has "$@" || fail "$name" "$name $minimum or newer is required, found ${found:-none}" "$advice"
    apt_install "$name" "$@"
    hash -r
    found=$($find || true)
    if [ -z "$found" ] || ! version_at_least "$found" "$minimum"; then
      fail "$name" "this system's package has ${found:-none}, $minimum or newer is required" "$advice"
    fi
  fi
  say "$name" "$found"
}

setup_runtimes() {
  want python python_version 3.11 "install Python 3.11 or newer so that 'python3' is it" python3 python3-venv
  want go go_version 1.24 "install Go 1.24 or newer and put its bin folder on PATH" golang-go
  want node node_version 20 "install Node.js 20 or newer with npm" nodejs npm
  want java java_version 17 "install a JDK 17 or newer, such as OpenJDK" default-jdk-headless
  command -v npm >/dev/null || apt_install npm npm
}
