#!/usr/bin/env bash
# Writes answer.txt, what the real node_exporter says of a simulated host, and rnic.out, what the input rnic reads from the same files.
# usage: capture.sh FLEETSIM WALLWATCH-TELEGRAF (programs of this repository; root, for a host name of its own)
# It is run by hand: building node_exporter takes some 30 s of CPU. The simulated tree lacks three files of PCI devices and /proc/net/dev, which
# node_exporter reads; they are written here.
set -euo pipefail
version=v1.10.2
here=$(cd "$(dirname "$0")" && pwd)
fleetsim=$(realpath "$1") telegraf=$(realpath "$2")
work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$work"' EXIT
cd "$work"

cat >scenario.yaml <<'END'
name: node-exporter
seed: 11
topology: {racks: 1, hosts: 1, rnics_per_host: 2, models: [CX-6, CX-7]}
workload:
  - {kind: training, containers: 2, flows: 40, gbps: 15}
END
"$fleetsim" run --scenario scenario.yaml --hosts hosts --speed 1 >fleetsim.log 2>&1 &
until [ -s hosts/host01/sys/class/infiniband/mlx5_0/ports/1/counters/port_xmit_data ] \
  && [ "$(cat hosts/host01/sys/class/infiniband/mlx5_0/ports/1/counters/port_xmit_data)" -gt 1000000 ]; do sleep 0.2; done
kill %1
wait %1 || true
host=hosts/host01

for device in "$host"/sys/bus/pci/devices/*; do
  for file in subsystem_vendor=0x15b3 subsystem_device=0x0083 revision=0x00; do echo "${file#*=}" >"$device/${file%=*}"; done
done
mkdir -p proc/self/net proc/net
{
  echo 'Inter-|   Receive                                                |  Transmit'
  echo ' face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed'
  for netdev in "$host"/sys/class/net/*np0; do
    s=$netdev/statistics
    echo "$(basename "$netdev"): $(cat "$s/rx_bytes" "$s/rx_packets" "$s/rx_errors" "$s/rx_dropped" | tr '\n' ' ') 0 0 0 $(cat "$s/multicast")" \
      "$(cat "$s/tx_bytes" "$s/tx_packets" "$s/tx_errors" "$s/tx_dropped" | tr '\n' ' ') 0 0 0 0"
  done
} | tee proc/self/net/dev >proc/net/dev

GOBIN=$work GOFLAGS=-mod=mod CGO_ENABLED=0 go install "github.com/prometheus/node_exporter@$version"
collectors=(infiniband pcidevice netclass netdev uname)
unshare --uts sh -c 'hostname host01; exec "$@"' sh ./node_exporter --web.listen-address=127.0.0.1:19100 --path.sysfs="$host/sys" \
  --path.procfs=proc --no-collector.netdev.netlink --collector.netclass.ignored-devices='[rv]\d+$' \
  --collector.disable-defaults --web.disable-exporter-metrics "${collectors[@]/#/--collector.}" >node_exporter.log 2>&1 &
curl --silent --show-error --fail --retry 50 --retry-connrefused --retry-delay 1 http://127.0.0.1:19100/metrics >answer.txt
cat >telegraf.conf <<END
[agent]
  hostname = "host01"
[[inputs.rnic]]
  sysfs_root = "$work/$host/sys"
  vf_interval = "0s"
  driver_interval = "0s"
[[outputs.file]]
END
"$telegraf" -config telegraf.conf -test 2>telegraf.log | grep '^> rnic,' >rnic.out
# What differs between captures and tells nothing of the RNICs: the time a collector took, this machine's kernel, sample times.
sed -E '/scrape_collector_duration/d; s/(release|version|machine)="[^"]*"/\1=""/g' answer.txt >"$here/answer.txt"
sed -E 's/^> //; s/ [0-9]+$//' rnic.out >"$here/rnic.out"
wc -l "$here/answer.txt" "$here/rnic.out"
