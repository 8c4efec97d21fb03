# shellcheck shell=bash
# What `make faults` needs besides the rest: connections are cut by iptables, and clocks are stepped by libfaketime.

setup_faults() {
  local missing=()
  command -v iptables >/dev/null || missing+=(iptables)
  ls /usr/lib/*/faketime/libfaketimeMT.so.1 >/dev/null 2>&1 || missing+=(libfaketime)
  [ ${#missing[@]} = 0 ] || apt_install faults "${missing[@]}"
}
