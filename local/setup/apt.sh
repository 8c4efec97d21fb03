# shellcheck shell=bash
# Debian packages: installs all missing ones in one go, without starting their services.

# command or file|package|what it is for
SYSTEM_PACKAGES=(
  "git|git|version stamps of the binaries"
  "curl|curl|readiness checks"
  "ip|iproute2|network namespaces of the CNI tests"
  "unshare|util-linux|private mounts of the database"
  "mvn|maven|fetching the Kafka broker"
  "ovs-vswitchd|openvswitch-switch|ovsdb-server of the simulated hosts, ovs-vswitchd of the tests"
  "/usr/lib/cni/bridge|containernetworking-plugins|the CNI chain of the tests"
  "chromium|chromium|browser tests"
  "promtool|prometheus|tests of the alert rules"
  "prometheus-alertmanager|prometheus-alertmanager|tests of notifications"
  "/usr/share/fonts/truetype/liberation|fonts-liberation|text in the browser tests' screenshots"
)

have_apt() { command -v apt-get >/dev/null; }

# apt_has PACKAGE...: true when this system's package lists offer all of them.
apt_has() {
  have_apt || return 1
  local package
  for package in "$@"; do
    [ -n "$(apt-cache madison "$package" 2>/dev/null)" ] || return 1
  done
}

apt_refresh() {
  [ -n "${APT_REFRESHED:-}" ] && return
  APT_REFRESHED=yes
  say apt "reading the package lists"
  run_logged apt-update "check this machine's apt sources and network" apt-get update -q
}

# Packages with a daemon would start it (an unwanted system-wide Open vSwitch or PostgreSQL): policy-rc.d prevents that meanwhile.
apt_install() {
  local step=$1 policy=/usr/sbin/policy-rc.d made=""
  shift
  have_apt || fail "$step" "$* missing, and this system has no apt" "install the equivalent of: $*"
  need_root "$step" "$*"
  apt_refresh
  if [ ! -e $policy ]; then
    printf '#!/bin/sh\nexit 101\n' >$policy
    chmod +x $policy
    made=yes
    trap 'rm -f /usr/sbin/policy-rc.d' EXIT
  fi
  say apt "installing $*"
  run_logged "apt-$step" "try 'apt-get install $*' by hand" \
    env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends -o DPkg::Lock::Timeout=300 "$@"
  if [ -n "$made" ]; then
    rm -f $policy
    trap - EXIT
  fi
}

setup_system() {
  local missing=() entry command package
  for entry in "${SYSTEM_PACKAGES[@]}"; do
    IFS='|' read -r command package _ <<<"$entry"
    [ -e "$command" ] || PATH=$PATH:/usr/sbin:/sbin type -P "$command" >/dev/null || missing+=("$package")
  done
  if [ ${#missing[@]} -gt 0 ]; then
    apt_install packages "${missing[@]}"
  else
    say apt "nothing missing"
  fi
}
