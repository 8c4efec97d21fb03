/** Answers in the form of the API (docs/contracts.md) for the mock server. */
import { seeded } from "./fleet.mjs";

const ID = (n) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
const ago = (seconds) => new Date(Date.now() - seconds * 1000).toISOString();
/** Three samples at 15 s. */
export const STALE_AFTER_S = 45;
const page = (items) => ({ items, next_cursor: null });

const FIELDS = {
  tx_gbps: ["Sent", "Gbit/s", 62, 8],
  rx_gbps: ["Received", "Gbit/s", 48, 6],
  flows_offloaded: ["Offloaded flows", "flows", 7600, 500],
  flows_software: ["Software flows", "flows", 340, 120],
  q_egress: ["Egress Q", "lookups", 14, 2],
  q_ingress: ["Ingress Q", "lookups", 6, 1],
  flow_insertions_per_s: ["Flow insertions", "flows/s", 180, 60],
  reoffloads_per_s: ["Re-offloads", "flows/s", 74, 30],
  reoffload_ratio: ["Re-offload ratio", "ratio", 0.41, 0.08],
  stale_reoffload_share: ["Re-offloads after a stale counter", "ratio", 0.62, 0.06],
  counter_gap_p95_s: ["Counter gap", "s", 8.4, 1.2],
  counter_gap_max_s: ["Longest counter gap", "s", 13.2, 1.5],
  max_idle_ms: ["max-idle", "ms", 10000, 0],
  dump_duration_ms: ["Revalidator dump duration", "ms", 900, 80],
  masks_egress: ["Egress masks", "masks", 21, 1],
  masks_ingress: ["Ingress masks", "masks", 9, 1],
  encap_contexts: ["Encapsulation contexts", "contexts", 2200, 40],
};

/** A field by its plain name or `measurement.name`; of a counter that is named nowhere here, a few packets per second. */
function known(name) {
  const plain = name.replace(/^.*\./, "");
  return FIELDS[plain] ?? [plain, "packets/s", plain.includes("wait") ? 240 : plain.includes("discards") ? 0 : 12, 6];
}

export function series(names, from, to) {
  const random = seeded(11);
  const start = Date.parse(from);
  const end = Date.parse(to);
  const count = 180;
  const step = Math.max(1, Math.round((end - start) / count / 1000));
  const times = Array.from({ length: count }, (_, i) => new Date(start + i * step * 1000).toISOString());
  const values = {};
  for (const name of names) {
    const [, , level, noise] = known(name);
    values[name] = times.map((_, i) =>
      i > 70 && i < 78
        ? null
        : Math.max(0, level * (0.55 + 0.45 / (1 + Math.exp((90 - i) / 8))) + (random() - 0.5) * noise),
    );
  }
  if (values.max_idle_ms) values.max_idle_ms = values.max_idle_ms.map((v) => (v === null ? null : 10000));
  return {
    from,
    to,
    step_s: step,
    fields: names.map((name) => ({ name, label: known(name)[0], unit: known(name)[1] })),
    times,
    values,
  };
}

/** The same for every symptom: what the evidence of the mock's incidents names. */
export function signals(from, to) {
  const found = series(["reoffload_ratio", "stale_reoffload_share", "flows_offloaded"], from, to);
  return { ...found, fields: found.fields.map((field) => ({ ...field, window_s: 30, statistic: "mean" })) };
}

const FIRMWARE = ["22.36.1010", "22.38.1002", "20.41.1000"];

/** By host, so that all RNICs of a host have the same. */
function firmwareOf(host) {
  return FIRMWARE[Number(host.replace(/\D/g, "")) % FIRMWARE.length];
}

const TENANTS = ["shop", "search", "training"];

/** Every fourth host has VFs of two tenants, every seventh of none. */
function tenantsOf(host) {
  const n = Number(host.replace(/\D/g, ""));
  if (n % 7 === 0) return [];
  return n % 4 === 0 ? [TENANTS[0], TENANTS[2]] : [TENANTS[n % TENANTS.length]];
}

/** Half an hour ago nobody was sick yet; limits were further away, the longer ago. */
export function replay(columns, at, wall) {
  const minute = `${at.slice(0, 16)}:00Z`;
  const ago = (Date.now() - Date.parse(minute)) / 60_000;
  const then = (headroom) =>
    headroom === null ? null : Math.round(Math.min(0.95, headroom + ago * 0.008) * 10_000) / 10_000;
  return {
    minute,
    host: columns.host,
    pci: columns.pci,
    headroom: columns.headroom.map(then),
    nearest_wall: columns.nearest_wall,
    wall_headroom: columns.headroom.map((value) => (wall === null ? null : then(value))),
    symptoms: columns.symptoms.map((symptoms) => (ago < 30 ? symptoms : [])),
    tx_gbps: columns.tx_gbps,
    rx_gbps: columns.rx_gbps,
  };
}

export function details(columns, wall) {
  return {
    host: columns.host,
    pci: columns.pci,
    firmware: columns.host.map(firmwareOf),
    tenants: columns.host.map(tenantsOf),
    headroom: columns.headroom.map((value, i) =>
      wall === null || value === null ? null : wall === columns.nearest_wall[i] ? value : Math.min(1, value + 0.3),
    ),
  };
}

/** Of the large fleet only: in a small one, chance explains what its few sick hosts share. */
export function commonalities(columns) {
  const hosts = new Set(columns.host).size;
  const sick = new Set(columns.host.filter((_, i) => columns.symptoms[i].length > 0)).size;
  const large = hosts > 1000;
  const old = large ? [...new Set(columns.host)].filter((host) => firmwareOf(host) === FIRMWARE[0]).length : 0;
  return {
    hosts,
    sick,
    tested: large ? 412 : 0,
    items: large
      ? [
          {
            dimension: "firmware",
            value: FIRMWARE[0],
            sick_with: sick,
            all_with: old,
            lift: hosts / old,
            chance: 0.0004,
          },
          { dimension: "change", value: "driver_reloaded", sick_with: sick - 1, all_with: 31, lift: 120, chance: 1e-7 },
        ]
      : [],
  };
}

/** A storm of containers before the symptom, a setting, and what was done about it. */
export function changes(host, pci, from, to) {
  const at = (seconds) => new Date(Date.now() - seconds * 1000).toISOString();
  const change = (seconds, kind, text, of = pci, data = {}) => ({ at: at(seconds), kind, host, pci: of, text, data });
  return {
    from: from ?? at(3600),
    to: to ?? at(0),
    items: [
      change(700, "setting", "max-idle changed from 60000 ms to 10000 ms.", ""),
      ...Array.from({ length: 14 }, (_, i) => change(520 - i, "container", `Container c${i} was attached to a VF.`)),
      change(430, "incident", "Incident: Repetitive flow re-offloading.", pci, { incident_id: ID(11) }),
      change(200, "remedy", "tune-revalidator (max_idle_ms = 60000) was applied, requested by admin.", ""),
    ],
    truncated: false,
  };
}

export function rnic(columns, i) {
  const sick = columns.symptoms[i].length > 0;
  const known = columns.headroom[i] !== null;
  const wall = (id, label, measured, limit, unit, basis, leads_to, value = known ? measured : null) => ({
    wall: id,
    label,
    value,
    limit,
    unit,
    headroom: value === null ? null : 1 - value / limit,
    basis,
    leads_to,
  });
  return {
    host: columns.host[i],
    pci: columns.pci[i],
    rack: columns.rack[i],
    model: columns.model[i],
    driver: "mlx5_core",
    firmware: "22.36.1010",
    ibdev: "mlx5_0",
    netdev: "enp59s0f0np0",
    pci_id: "15b3:101d",
    board_id: "MT_0000000359",
    link_layer: "Ethernet",
    seen_at: ago(2),
    stale_after_s: STALE_AFTER_S,
    headroom: columns.headroom[i],
    nearest_wall: columns.nearest_wall[i],
    cordoned: columns.cordoned[i],
    node: {
      zone: "eu-1a",
      instance_type: "p5.48xlarge",
      healthy: sick ? "False" : "True",
      reason: sick ? "S1" : "NoSymptoms",
      tainted: columns.cordoned[i],
      unschedulable: false,
      nvsentinel:
        columns.host[i] === "host03"
          ? [
              { name: "cordon", since: ago(900), text: "NIC-fatal-error, state: draining", devices: [] },
              {
                name: "EthernetStateCheck",
                since: ago(960),
                text: "NIC:mlx5_0 NICPort:1 port state DOWN, phys_state Disabled (recommended action: REPLACE_VM)",
                devices: ["mlx5_0"],
              },
              ...["GpuMemWatch", "GpuThermalWatch", "SysLogsXIDError", "InfiniBandStateCheck"].map((name, k) => ({
                name,
                since: ago(1200 + 60 * k),
                text: `${name.startsWith("Gpu") ? `GPU:${k}` : "NIC:mlx5_0"} unhealthy (recommended action: CONTACT_SUPPORT)`,
                devices: [],
              })),
            ]
          : [],
      read_at: ago(20),
    },
    agent_id: ID(1),
    agent_connected: true,
    tx_gbps: columns.tx_gbps[i],
    rx_gbps: columns.rx_gbps[i],
    walls: [
      wall("offloaded_flows", "Offloaded flows", sick ? 8064 : 3120, 7200, "flows", "paper", ["S1", "S5", "S6"]),
      wall("egress_masks", "Egress masks", 21, 24, "masks", "model", ["S6"]),
      wall("ingress_masks", "Ingress masks", 9, 24, "masks", "model", ["S6"]),
      wall("flow_insertions", "Flow insertions", 182, 1000, "flows/s", "paper", ["S2"]),
      wall("encap_contexts", "Encapsulation contexts", null, 10000, "contexts", "assumed", ["S8", "S2"]),
    ],
    symptoms: [
      ...columns.symptoms[i].map((symptom) => ({
        symptom,
        since: ago(430),
        until: null,
        severity: "critical",
        incident_id: ID(symptom === "S1" ? 11 : 12),
      })),
      ...columns.recent[i].map((symptom) => ({
        symptom,
        since: ago(900),
        until: ago(520),
        severity: "warning",
        incident_id: ID(18),
      })),
    ],
  };
}

const MATCH = [
  "recirc_id(0),in_port(enp59s0f0npf0vf3),packet_type(ns=0,id=0)",
  "eth(src=02:00:00:00:00:00/ff:00:00:00:00:00,dst=02:11:22:33:44:55),eth_type(0x0800)",
  "ipv4(src=10.0.0.0/255.255.0.0,dst=10.8.0.0/255.255.240.0,proto=17,frag=no),udp(dst=4791)",
].join(",");

export function masks() {
  const random = seeded(3);
  const chain = (n) =>
    Array.from({ length: n }, (_, position) => ({
      position,
      mask: (0xabc000 + position * 7919).toString(16).padStart(12, "0"),
      flows: Math.floor(random() * 900),
      packets: Math.round(random() * 90_000 * (position > n / 2 ? 1 : 0.4)),
      length_bits: 96 + position * 8,
      match: MATCH,
    }));
  return { at: ago(4), egress: chain(21), ingress: chain(9) };
}

const IN_FORCE = {
  signal: "in_force",
  label: "Read back by the agent",
  unit: "none",
  expected: "= 1",
  within_s: 30,
  for_s: 0,
  text: "The agent has read the setting back.",
};

const PARAM = {
  type: "text",
  unit: null,
  minimum: null,
  maximum: null,
  max_length: null,
  pattern: null,
  required: true,
};

export const ACTIONS = [
  {
    action: "tune-revalidator",
    title: "Tune the revalidator of Open vSwitch",
    description: "Sets how long an idle flow stays in the datapath, and how many flows the datapath may hold.",
    scope: "host",
    params: [
      {
        name: "max_idle_ms",
        label: "max-idle",
        type: "integer",
        unit: "ms",
        minimum: 500,
        maximum: 3600000,
        max_length: null,
        pattern: null,
        required: false,
        meaning: "Idle time after which the revalidator deletes a flow",
      },
      {
        name: "flow_limit",
        label: "Flow limit",
        type: "integer",
        unit: "flows",
        minimum: 1000,
        maximum: 1000000,
        max_length: null,
        pattern: null,
        required: false,
        meaning: "Most flows that the datapath may hold",
      },
    ],
    at_least_one: ["max_idle_ms", "flow_limit"],
    risk: "low",
    risk_text: "A longer idle time keeps dead flows in the RNIC for longer.",
    needs_approval: false,
    reversible: true,
    privileges: "access to the socket of Open vSwitch's database",
    operations: "OVSDB: Open_vSwitch.other_config:max-idle and :flow-limit",
    undo: "Puts the former value of each key back.",
    change: IN_FORCE,
    cures: [
      {
        symptom: "S1",
        signal: "reoffload_ratio",
        label: "Re-offload ratio",
        unit: "ratio",
        expected: "< 0.05",
        within_s: 180,
        for_s: 20,
        text: "At most 5% of the inserted flows had been deleted while their packets still came.",
      },
    ],
    symptoms: ["S1"],
    disturbs: null,
  },
  {
    action: "limit-vf-rate",
    title: "Limit a VF's transmit rate",
    description: "Caps what one container sends, so that other containers on the RNIC keep their share.",
    scope: "rnic",
    params: [
      { ...PARAM, name: "pci", label: "PCI address", max_length: 12, meaning: "Physical function that has the VF" },
      {
        ...PARAM,
        ...{ name: "vf", label: "VF", type: "integer", minimum: 0, maximum: 1023 },
        meaning: "Number of the virtual function",
      },
      {
        ...PARAM,
        ...{ name: "max_tx_mbps", label: "Limit", type: "integer", unit: "Mbit/s", minimum: 10, maximum: 800_000 },
        meaning: "Maximum transmit rate of the virtual function",
      },
    ],
    at_least_one: [],
    risk: "medium",
    risk_text: "The container on this virtual function slows down immediately.",
    needs_approval: false,
    reversible: true,
    privileges: "CAP_NET_ADMIN in the host's network namespace",
    operations: "netlink: sets the maximum transmit rate of the VF",
    undo: "Restores the previous limit, or removes the limit if there was none.",
    cures: [],
    change: { ...IN_FORCE, label: "Rate limit of the VF" },
    symptoms: ["isolation"],
    disturbs: null,
  },
  {
    action: "cordon-rnic",
    title: "Cordon the RNIC",
    description: "Containers already on the RNIC stay; no new one gets a virtual function of it.",
    scope: "rnic",
    params: [
      {
        name: "pci",
        label: "PCI address",
        type: "text",
        pattern: "^[0-9a-f]{4}:",
        unit: null,
        minimum: null,
        maximum: null,
        max_length: 12,
        required: true,
        meaning: "Physical function to cordon",
      },
      {
        name: "reason",
        label: "Reason",
        type: "text",
        unit: null,
        minimum: null,
        maximum: null,
        max_length: 200,
        pattern: null,
        required: true,
        meaning: "Shown to the runtime whose container is refused",
      },
    ],
    at_least_one: [],
    risk: "medium",
    risk_text: "New containers that ask for this RNIC wait.",
    needs_approval: false,
    reversible: true,
    privileges: "none beyond the agent's own folder",
    operations: "a file in the agent's cordon folder",
    undo: "Removes the cordon.",
    cures: [],
    change: {
      signal: "cordoned",
      label: "Cordoned",
      unit: "none",
      expected: "= 1",
      within_s: 30,
      for_s: 0,
      text: "",
    },
    symptoms: ["S1", "S6"],
    disturbs: null,
  },
];

const APPLIED_AFTER_MS = 1200;

/** What is known of an applied order: its change at once, its effect and the end of the symptom a few seconds later. */
function factsOf(order, state, applied, created) {
  if (!applied) return { applied_at: null, change: null, effect: null, symptom: null };
  const at = created + APPLIED_AFTER_MS;
  const iso = (ms) => new Date(ms).toISOString();
  const fact = (more) => ({ for_s: 0, measured_at: iso(at), confirmed_at: iso(at), ...more });
  const cordon = order.action === "cordon-rnic";
  const cured = state === "confirmed";
  return {
    applied_at: iso(at),
    change: fact({
      signal: cordon ? "cordoned" : "in_force",
      label: cordon ? "Cordoned" : "Read back by the agent",
      unit: "none",
      expected: "= 1",
      measured: 1,
      deadline: iso(at + 30_000),
    }),
    effect: cordon
      ? null
      : fact({
          symptom: "S1",
          signal: "reoffload_ratio",
          label: "Re-offload ratio",
          unit: "ratio",
          expected: "< 0.05",
          for_s: 20,
          before: 0.41,
          measured: cured ? 0.01 : 0.24,
          confirmed_at: cured ? iso(at + 4000) : null,
          deadline: iso(at + 180_000),
        }),
    symptom: order.incident_id
      ? {
          symptom: "S1",
          title: "Repetitive flow re-offloading",
          present: !cured,
          cleared_at: cured ? iso(at + 4500) : null,
        }
      : null,
  };
}

/** The signal of an order's effect, each 5 s from ten minutes before it. */
export function effectSeries(order, created) {
  if (order.action === "cordon-rnic") return null;
  const at = created + APPLIED_AFTER_MS;
  const samples = [];
  for (let ms = at - 600_000; ms < Math.min(Date.now(), at + 60_000); ms += 5000)
    samples.push({ at: new Date(ms).toISOString(), value: ms < at ? 0.38 + ((ms / 5000) % 7) * 0.01 : 0.01 });
  return {
    symptom: "S1",
    signal: "reoffload_ratio",
    label: "Re-offload ratio",
    unit: "ratio",
    expected: "< 0.05",
    bound: 0.05,
    applied_at: new Date(at).toISOString(),
    samples,
  };
}

export function remedy(order, id, created) {
  const age = (Date.now() - created) / 1000;
  const dry = order.mode === "dry_run";
  const state = order.rejected
    ? "rejected"
    : order.undone
      ? "undone"
      : dry
        ? age > 0.6
          ? "planned"
          : "running"
        : age > 6
          ? order.action === "cordon-rnic"
            ? "change_confirmed"
            : "confirmed"
          : age > 1.2
            ? "verifying"
            : "running";
  const known = state !== "running" && state !== "rejected";
  return {
    id,
    action: order.action,
    host: order.host,
    pci: order.pci ?? null,
    params: order.params,
    mode: order.mode,
    state,
    incident_id: order.incident_id ?? null,
    rollout_id: null,
    requested_by: order.requested_by ?? "admin",
    decided_by: order.decided_by ?? null,
    decided_at: order.decided_at ?? null,
    decision_comment: order.decision_comment ?? null,
    created_at: new Date(created).toISOString(),
    updated_at: ago(0),
    code: null,
    message: null,
    operations: known
      ? [
          {
            target: "Open_vSwitch.other_config:max-idle",
            operation: "set",
            before: null,
            after: String(order.params.max_idle_ms ?? ""),
            text: "",
          },
        ]
      : [],
    ...factsOf(order, state, known && !dry, created),
    undoable: !dry && ["verifying", "change_confirmed", "confirmed"].includes(state),
    commands: [],
    inhibited: order.inhibited ?? [],
    undo_state: null,
  };
}

function certificate(hours) {
  return { expires_at: ago(-hours * 3600), renews_at: ago((84 - hours) * 3600), late_at: ago((42 - hours) * 3600) };
}

export function agents(columns) {
  return page(
    [...new Set(columns.host)].slice(0, 200).map((host, i) => ({
      id: ID(100 + i),
      host,
      version: "0.1.0",
      connected: i !== 2,
      healthy: i === 3 ? false : true,
      health_error: i === 3 ? "OVSDB socket does not answer" : null,
      enrolled_at: ago(86400),
      last_seen_at: ago(i === 2 ? 400 : 3),
      // Of seven days: renewed lately, late, ended; one agent still shows a secret.
      certificate: i === 4 ? null : certificate(i === 2 ? -30 : i === 3 ? 20 : 84 + ((i * 7) % 84)),
    })),
  );
}

export const TOKENS = page([
  {
    id: ID(41),
    name: "grafana",
    role: "viewer",
    owner: "admin",
    state: "active",
    effective_role: "viewer",
    scopes: ["read"],
    hosts: [],
    racks: [],
    prefix: "ww_4fK2",
    created_by: "admin",
    created_at: ago(86400),
    expires_at: null,
    last_used_at: ago(60),
    last_used_address: "192.0.2.17",
  },
  {
    id: ID(42),
    name: "rack 7 repair",
    role: "operator",
    owner: "dana",
    state: "owner_disabled",
    effective_role: null,
    scopes: ["read", "remedies"],
    hosts: ["host03"],
    racks: ["r7", "r8"],
    prefix: "ww_9aQz",
    created_by: "admin",
    created_at: ago(864000),
    expires_at: ago(-6912000),
    last_used_at: null,
    last_used_address: null,
  },
]);
export const USERS = page([
  {
    id: ID(51),
    username: "admin",
    role: "admin",
    disabled: false,
    created_at: ago(864000),
    last_sign_in_at: ago(60),
    second_factor: true,
  },
  {
    id: ID(52),
    username: "dana",
    role: "operator",
    disabled: false,
    created_at: ago(864000),
    last_sign_in_at: ago(5000),
    second_factor: false,
  },
]);
export const ACCOUNT = {
  username: "admin",
  role: "admin",
  single_sign_on: false,
  created_at: ago(864000),
  second_factor_since: ago(86400),
  recovery_codes_left: 9,
};
const ownSession = (number, address, used, current = false) => ({
  id: ID(number),
  created_at: ago(used + 7200),
  last_used_at: ago(used),
  expires_at: ago(used - 36000),
  address,
  current,
});
export const SESSIONS = [
  ownSession(61, "192.0.2.10", 5, true),
  ownSession(62, "192.0.2.11", 900),
  ownSession(63, "2001:db8:40:1:5054:ff:fe12:3456", 14000),
];
/** Answers of the three steps of a second factor, by the path's end. */
export const SECOND_FACTOR = {
  "": {
    secret: "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP",
    uri: "otpauth://totp/Wallwatch:admin?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=Wallwatch",
  },
  "/confirm": { recovery_codes: ["k3vq-7xzn-2mfa-tyb4", "b2aa-q7rt-zzm4-lx3k", "77hd-pk2v-a5xo-qqe3"] },
  "/disable": {},
};
export const AUDIT = page([
  {
    id: 3,
    at: ago(60),
    actor: "admin",
    action: "remedy.apply",
    target: "host03 tune-revalidator",
    outcome: "ok",
    address: "127.0.0.1",
    detail: { max_idle_ms: 60000 },
  },
  {
    id: 2,
    at: ago(80),
    actor: "admin",
    action: "session.sign_in",
    target: "admin",
    outcome: "ok",
    address: "127.0.0.1",
    detail: {},
  },
  {
    id: 1,
    at: ago(95),
    actor: "mallory",
    action: "session.sign_in",
    target: "admin",
    outcome: "refused",
    address: "127.0.0.1",
    detail: {},
  },
]);
export { page };
