#!/bin/sh
# Starts wallwatch-agent in a container: writes its configuration from the environment, and hands over an enrolment token at the first start.
#   WALLWATCH_HOST         the host's name as the telemetry has it (required)
#   WALLWATCH_SERVER_URL   where the backend's port of agents is (required)
#   WALLWATCH_AGENT_NETLINK  `kernel` where it may change the drivers (CAP_NET_ADMIN and the host's network namespace); else it leaves them alone
#   WALLWATCH_PROBES         `true`: measure delays of VFs, with /etc/wallwatch-probes/{fleet.yaml,key/key}; the same files on every host
#   WALLWATCH_PROBES_PORT    the UDP port of the probes on every host (default 8477)
#   WALLWATCH_AUTHORITY      in Kubernetes, with a service account's token in /run/wallwatch-service-account: fingerprint of the authority of agents
#                            (`wallwatch agent authorities`), by which the agent knows the server
# A token is looked for in /run/wallwatch-enrolment/<host>, or put by hand into <state>/enrolment-token.
set -eu
umask 077

: "${WALLWATCH_HOST:?set it to the name of this host}"
: "${WALLWATCH_SERVER_URL:?set it to the address of the backend's port of agents, such as https://wallwatch.example.net:8443}"
state=/var/lib/wallwatch-agent
handed_over=/run/wallwatch-enrolment/$WALLWATCH_HOST
service_account=/run/wallwatch-service-account/token
config=/run/wallwatch/agent.yaml

if [ ! -e "$state/credentials.json" ] && [ -e "$handed_over" ]; then
  # A copy, because the agent removes the file once it is used and a mounted Secret cannot be removed.
  cp "$handed_over" "$state/enrolment-token"
fi
if [ -e "$service_account" ]; then
  : "${WALLWATCH_AUTHORITY:?set it to the fingerprint that wallwatch agent authorities prints first}"
  # The agent uses it only without credentials, or when they have expired. It lives for an hour; each start brings a new one.
  printf '%s.%s\n' "$(cat "$service_account")" "$WALLWATCH_AUTHORITY" >"$state/enrolment-token"
fi
cat >"$config" <<EOF
host: "$WALLWATCH_HOST"
server_url: "$WALLWATCH_SERVER_URL"
state_dir: $state
ovsdb_socket: /run/openvswitch/db.sock
vswitchd_socket: "/run/openvswitch/ovs-vswitchd.*.ctl"
sysfs_root: /host/sys
enrolment_token_file: $state/enrolment-token
netlink: "${WALLWATCH_AGENT_NETLINK:-auto}"
EOF
if [ "${WALLWATCH_PROBES:-false}" = true ]; then
  cat >>"$config" <<EOF
probes:
  enabled: true
  port: ${WALLWATCH_PROBES_PORT:-8477}
  fleet_file: /etc/wallwatch-probes/fleet.yaml
  key_file: /etc/wallwatch-probes/key/key
EOF
fi
exec wallwatch-agent run --config "$config"
