/** The virtual functions of an RNIC for the mock server: containers of a training job, free functions, one at its limit, one that drops. */
import { seeded } from "./fleet.mjs";

const ago = (seconds) => new Date(Date.now() - seconds * 1000).toISOString();
const PODS = ["ml/trainer", "ml/trainer", "search/ranker", "shop/cart", "infra/probe"];

function container(vf, random) {
  return {
    id: (0xc0ffee00 + vf * 7919).toString(16).padStart(12, "0").repeat(5),
    pod: vf === 5 ? null : `${PODS[vf % PODS.length]}-${vf}`,
    owner: vf === 5 ? null : `StatefulSet/${PODS[vf % PODS.length].split("/")[1]}`,
    labels: vf === 5 ? {} : { app: PODS[vf % PODS.length].split("/")[1], team: PODS[vf % PODS.length].split("/")[0] },
    interface: "net1",
    addresses: vf === 3 ? ["10.0.0.5/24", "fd00::5/64"] : [`10.0.${vf >> 4}.${(vf % 16) + 2}/24`],
    vxlan_network: 4097 + (vf % 3),
    since: ago(60 + Math.floor(random() * 90_000)),
  };
}

function virtualFunction(pci, vf) {
  const random = seeded(vf + 5);
  const used = vf % 16 < 11;
  const state = used
    ? vf === 7
      ? "passthrough"
      : vf === 8
        ? "host"
        : "elsewhere"
    : vf % 16 === 15
      ? "unbound"
      : "host";
  const device = (vf + 2) % 256;
  const first = vf === 10;
  return {
    vf,
    pci: `${pci.slice(0, 8)}${(device >> 3).toString(16).padStart(2, "0")}.${device & 7}`,
    representor: `enp59s0f0npf0vf${vf}`,
    netdev: state === "host" ? `enp59s0f0v${vf}` : null,
    state,
    driver: state === "unbound" ? null : state === "passthrough" ? "vfio-pci" : "mlx5_core",
    tx_gbps: first ? null : used ? (vf === 2 ? 24.6 : vf === 6 ? 2.1 : random() * 18) : 0,
    rx_gbps: first ? null : used ? random() * 14 : 0,
    tx_pps: used ? 1_400_000 : 0,
    rx_pps: used ? 900_000 : 0,
    drops_per_s: first ? null : vf === 4 ? 312.5 : 0,
    tx_dropped: vf === 4 ? 90_233 : 0,
    rx_dropped: 0,
    max_tx_mbps: vf === 2 ? 25_000 : vf === 6 ? 2_500 : 0,
    min_tx_mbps: vf === 2 ? 1000 : 0,
    vlan: 0,
    mac: `02:00:00:00:00:${vf.toString(16).padStart(2, "0")}`,
    link_state: "auto",
    trust: vf === 6,
    spoof_check: true,
    operstate: "up",
    values_missing: first ? 6 : 0,
    container: used && vf !== 7 ? container(vf, random) : null,
  };
}

export function vfs(columns, i) {
  const count = i % 8 === 0 ? 64 : i % 8 === 3 ? 0 : 16;
  const stale = Date.now() - columns.seen_at_ms[i] > 60_000;
  const items = Array.from({ length: count }, (_, vf) => virtualFunction(columns.pci[i], vf));
  return { at: count === 0 ? null : ago(stale ? 2_000 : 48), stale_after_s: 360, numvfs: count, totalvfs: 127, items };
}
