/** One incident whole, and what surrounds it. */
const ID = (n) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
const ago = (seconds) => new Date(Date.now() - seconds * 1000).toISOString();
const evidence = (signal, label, unit, value, expected, text) => ({
  signal,
  label,
  unit,
  from: ago(330),
  to: ago(240),
  value,
  expected,
  text,
});
const hypothesis = (cause, title, prior, posterior, yes, no, next_test) => ({
  cause,
  title,
  prior,
  posterior,
  evidence_for: yes,
  evidence_against: no,
  next_test,
});

/** Evidence of a cause has the cause's own test in place of what is expected of a healthy RNIC. */
const tested = (of, test) => ({ ...of, expected: null, test });

function signalsOf() {
  return [
    evidence(
      "reoffload_ratio",
      "Re-offload ratio",
      "ratio",
      0.41,
      "< 5%",
      "Flows come back although their packets never stopped.",
    ),
    evidence(
      "stale_reoffload_share",
      "Re-offloads after a stale counter",
      "ratio",
      0.92,
      "< 25%",
      "Counters of the flows that return had stood still, so they looked idle.",
    ),
    evidence(
      "flows_offloaded",
      "Offloaded flows",
      "flows",
      8064,
      "< 7200 flows",
      "The number of offloaded flows is past the wall of this model.",
    ),
  ];
}

const ofBehaviour = () => [
  evidence(
    "unanswered_marks",
    "Marked packets without a counted notification",
    "packets",
    2000,
    "< 1 packets",
    "Packets with an ECN mark within a minute for which no notification was counted.",
  ),
  evidence("np_off", "Notification point disabled", "none", 0, "<= 0", "The notification point is not disabled."),
  evidence(
    "peers_cnps_handled_per_s",
    "Notifications handled by senders",
    "packets/s",
    80,
    ">= 1 packets/s",
    "Notifications per second that the RNIC's senders handled and that no other receiver explains.",
  ),
];

function hypotheses(signals) {
  return [
    hypothesis(
      "C5",
      "Flow counters are not updated in time",
      0.153,
      0.71,
      [tested(signals[1], ">= 0.3"), tested(signals[2], ">= 7200 flows")],
      [],
      "Raise max-idle above the longest counter gap: if the re-offloads stop, it is this.",
    ),
    hypothesis(
      "C1",
      "The virtual switch deletes entries that have not aged",
      0.171,
      0.17,
      [tested(signals[0], ">= 0.1")],
      [
        tested(
          evidence("counter_gap_p95_s", "Counter gap", "s", 8.4, null, "Counters lag, which C1 does not explain."),
          "< 1 s",
        ),
      ],
      "Compare the firmware with the vendor's fixed release.",
    ),
    hypothesis(
      "C6",
      "Masks are looked up one after another",
      0.299,
      0.08,
      [],
      [tested(evidence("q_egress", "Egress Q", "lookups", 4.1, null, "Few mask lookups per packet."), ">= 12 lookups")],
      "Compare throughput of head and tail masks.",
    ),
    hypothesis("C4", "Deletion is slow", 0.114, 0.02, [], [], null),
    hypothesis("C8", "Encapsulation contexts exceed the buffer", 0.068, 0.01, [], [], null),
    hypothesis("C7", "Race at VF unbind", 0.084, 0.005, [], [], null),
    hypothesis("C2", "Driver does not handle a timeout", 0.059, 0.003, [], [], null),
    hypothesis("C3", "Null pointer at entry creation", 0.052, 0.002, [], [], null),
  ];
}

const EXPLANATION = [
  "The hardware counters of these flows stand still for up to 13.2 s, longer than the idle limit of 10 s,",
  "so the virtual switch takes flows in use for idle and deletes them.",
  "The most likely cause is that flow counters are not updated in time (71%).",
  "The firmware 22.36.1010 is older than the release in which the vendor fixed this.",
  "Raising max-idle above the longest gap would confirm it.",
].join(" ");
const QUIET = "No notification is sent and no rule acts on it, unless it outlasts the remedy by 80 s.";

export function whole(summary, added = []) {
  const signals = summary.symptom === "B4" ? ofBehaviour() : signalsOf();
  const known = summary.cause !== null;
  const finding = (n, symptom, host, state) => ({
    finding_id: ID(90 + n),
    host,
    pci: summary.pci,
    rack: summary.rack ?? "",
    model: summary.model ?? "",
    driver: "mlx5_core",
    fw_ver: summary.fw_ver ?? "",
    symptom,
    state,
    started_at: summary.opened_at,
    last_at: ago(3),
    cleared_at: state === "cleared" ? ago(60) : null,
    severity: summary.severity,
    cause: summary.cause,
    title: summary.title,
    summary: summary.summary,
    explanation: "",
    inhibited: summary.inhibited_by !== null,
    inhibited_by: summary.inhibited_by,
    evidence: signals,
    hypotheses: [],
    remedies: [],
  });
  const { derived, ...shown } = summary;
  return {
    ...shown,
    rule: `${summary.symptom}/1`,
    finding_id: ID(90),
    merged: [],
    remedy_ids: [],
    explanation: known ? `${summary.summary} ${EXPLANATION}` : summary.summary,
    evidence: signals,
    hypotheses: known ? hypotheses(signals) : [],
    remedies: known
      ? [
          {
            action: "tune-revalidator",
            params: { max_idle_ms: 60000 },
            derivations: { max_idle_ms: "longest counter gap 28.4 s x 2, rounded up to 60,000 ms" },
            derived_at: summary.opened_at,
            newest: derived
              ? null
              : {
                  params: { max_idle_ms: 90000 },
                  derivations: { max_idle_ms: "longest counter gap 43.1 s x 2, rounded up to 90,000 ms" },
                },
            why: "Idle flows are then kept for longer than the counters lag, so live flows are not deleted.",
          },
          {
            action: "cordon-rnic",
            params: { pci: summary.pci, reason: "past the offloaded-flows wall" },
            derivations: {},
            derived_at: null,
            newest: null,
            why: "No new container makes it worse while you look.",
          },
        ]
      : summary.symptom === "isolation"
        ? [
            {
              action: "limit-vf-rate",
              params: { pci: summary.pci, vf: 2, max_tx_mbps: 5700 },
              derivations: { max_tx_mbps: "sends 21,300 Mbit/s at 78% of the load; its fair share is 21%" },
              derived_at: summary.opened_at,
              newest: null,
              why: "At its fair share the RNIC carries the packets of all VFs.",
            },
          ]
        : [],
    findings:
      summary.symptoms.length > 1
        ? [
            finding(0, summary.symptoms[0], summary.host, "active"),
            finding(1, summary.symptoms[1], summary.host, "cleared"),
          ]
        : summary.hosts.map((host, n) => finding(n, summary.symptom, host, "active")),
    timeline: [
      {
        at: summary.opened_at,
        kind: "opened",
        actor: "classify",
        text: `${summary.symptom} found by rule ${summary.symptom}/1.`,
        data: {},
      },
      { at: ago(300), kind: "symptom", actor: "classify", text: "S5 belongs to it: C5 causes both.", data: {} },
      { at: ago(240), kind: "updated", actor: "classify", text: "Severity is now critical.", data: {} },
      {
        at: ago(120),
        kind: "comment",
        actor: "dana",
        text: "Training job 4411 sees step times double since 03:20.",
        data: {},
      },
      { at: ago(100), kind: "ticket", actor: "jira-bridge", text: "Linked to NET-4411.", data: {} },
      { at: ago(60), kind: "remedy", actor: "dana", text: "Tune the revalidator: dry run planned.", data: {} },
      ...(summary.inhibited_by === null
        ? []
        : [
            {
              at: summary.opened_at,
              kind: "inhibited",
              actor: "wallwatch",
              text: `Inhibited: ${summary.symptom} started while the remedy "Apply a mask plan" ran. ${QUIET}`,
              data: { remedy_id: summary.inhibited_by },
            },
          ]),
      ...added,
    ],
  };
}

export function containers(summary) {
  const one = (n, until) => ({
    host: summary.host,
    pci: summary.pci || "0000:3b:00.0",
    vf: `0000:3b:00.${n + 2}`,
    container: `c0ffee${n}`,
    pod: `train/job-4411-worker-${n}`,
    owner: n < 3 ? "Job/job-4411" : null,
    labels: n < 3 ? { app: "trainer", team: "vision" } : {},
    address: `10.8.0.${n + 10}`,
    vxlan_network: 4097,
    since: ago(9000 + n * 60),
    until,
  });
  return {
    at: summary.opened_at,
    items: [one(0, null), one(1, null), one(2, null), one(3, ago(100))],
    truncated: false,
  };
}

export function before(summary) {
  const at = (seconds) => new Date(Date.parse(summary.opened_at) - seconds * 1000).toISOString();
  const change = (seconds, kind, text) => ({
    at: at(seconds),
    kind,
    host: summary.host,
    pci: summary.pci,
    text,
    data: {},
  });
  return {
    from: at(900),
    to: summary.opened_at,
    truncated: false,
    items: [
      change(840, "setting", "max-idle went from 30 s to 10 s."),
      change(310, "container", "train/job-4411-worker-0 got the virtual function 0000:3b:00.2."),
      change(280, "container", "train/job-4411-worker-1 got the virtual function 0000:3b:00.3."),
      change(35, "event", "6 command time-outs in the kernel log."),
    ],
  };
}

export function similar(all, summary) {
  const past = all.filter((i) => i.id !== summary.id && i.state === "resolved" && i.symptom === summary.symptom);
  return {
    items: past.slice(0, 3).map((incident) => ({
      incident,
      alike: ["cause", "symptom", "fw_ver"],
      lasted_s: 840,
      resolved_by: "wallwatch",
      last_comment: "max-idle 60 s was enough.",
      remedies: [
        {
          id: ID(901),
          action: "tune-revalidator",
          params: { max_idle_ms: 60000 },
          state: "confirmed",
          requested_by: "dana",
        },
      ],
    })),
  };
}
