/** A short catalogue: as much of the real one as the pages show; the states are the backend's, as it serves them. */
import { readFileSync } from "node:fs";

const STATES = JSON.parse(readFileSync(new URL("states.json", import.meta.url), "utf8"));
const condition = (signal, label, unit, role, raise, clear, text, alternative = null) => ({
  signal,
  label,
  unit,
  role,
  alternative,
  window_s: 15,
  statistic: "mean",
  raise,
  clear,
  text,
});
const S1 = {
  rule: "S1/2",
  blast_radius: "flows",
  severity: "warning",
  raise_for_s: 10,
  clear_for_s: 20,
  conditions: [
    condition(
      "reoffload_ratio",
      "Re-offload ratio",
      "ratio",
      "required",
      { at_least: 0.1 },
      { below: 0.05 },
      "Share of the insertions that restore a flow deleted while it had live traffic.",
    ),
    condition(
      "reoffloads_per_s",
      "Re-offloads",
      "flows/s",
      "required",
      { at_least: 1 },
      { below: 0.1 },
      "Flows offloaded again per second.",
    ),
    condition(
      "population_change",
      "Flow count change",
      "ratio",
      "gate",
      { at_most: 0.5 },
      null,
      "The number of flows is steady, so the insertions are not growth.",
    ),
    condition(
      "flows_wall_share",
      "Offloaded flows vs. limit",
      "ratio",
      "supporting",
      { at_least: 0.9 },
      null,
      "Re-offloading is known to start near the limit for offloaded flows.",
    ),
  ],
  critical_when: [{ signal: "reoffload_ratio", label: "Re-offload ratio", unit: "ratio", at_least: 0.3 }],
  not_with: { S8: 120 },
  summary:
    "{reoffload_ratio:.0%} of new offloads restore a flow deleted while it had live traffic ({reoffloads_per_s:.1f} flows/s).",
  remedies: [
    { action: "tune-revalidator", why: "A longer max-idle keeps live flows in the RNIC even when their counters lag." },
    { action: "cordon-rnic", why: "No new containers are placed on an RNIC that already loses flows." },
  ],
};
const symptom = (id, title, layer, ratio, more = {}) => ({
  id,
  title,
  layer,
  ratio,
  cause: /^S/.test(id) ? id.replace("S", "C") : null,
  looks_like: null,
  near_misses: [],
  definition: null,
  behaviour: null,
  ...more,
});
const B4 = {
  rule: "B4/1",
  blast_radius: "rnic",
  severity: "warning",
  raise_for_s: 0,
  clear_for_s: 60,
  conditions: [
    condition(
      "unanswered_marks",
      "Marked packets without a counted notification",
      "packets",
      "required",
      { at_least: 1000 },
      { below: 1 },
      "Packets with an ECN mark within a minute for which no notification was counted.",
    ),
    condition(
      "peers_cnps_handled_per_s",
      "Notifications handled by senders",
      "packets/s",
      "gate",
      { at_least: 1 },
      null,
      "Notifications per second that the RNIC's senders handled and that no other receiver explains.",
      "sent",
    ),
  ],
  critical_when: [],
  not_with: { S8: 60 },
  summary:
    "{unanswered_marks:.0f} packets with an ECN mark arrived within a minute, and the counter of sent notifications stood still.",
  remedies: [],
};
const known = (model, figures, source) => ({ model, firmware: "all that were measured", figures, source });
const behaviour = (id, title, known_on, more = {}) =>
  symptom(id, title, null, null, {
    behaviour: {
      seen_in: "telemetry",
      known_on,
      applies_to: [],
      advice:
        "Do not judge congestion by this counter: use the senders' counters of handled notifications, and leave the RNIC out of dashboards that compare marks with notifications.",
      ticket:
        "The counter of sent congestion notification packets (np_cnp_sent, cnpSent) does not move although the adapter receives ECN-marked packets and its peers handle notifications. Attached: both counters, the peers' counters and the interval.",
    },
    ...more,
  });
const named = (id, label, unit, leads_to, signal) => ({ id, label, unit, signal, leads_to });
const field = (measurement, name, label, unit, kind = "counter", meaning = "") => ({
  name,
  measurement,
  label,
  unit,
  kind,
  meaning,
});
const cause = (id, title, prior, explains) => ({
  id,
  title,
  prior,
  statement: null,
  next_test: "Raise max-idle above the longest counter gap: if flows stop being re-offloaded, this cause is confirmed.",
  explains,
  settled_by_upgrade: id === "C5",
  remedies: ["tune-revalidator"],
});
const word = (id, label, meaning) => ({ id, label, meaning });
const signal = (name, label, unit) => ({ signal: name, label, unit });

export const CATALOGUE = {
  symptoms: [
    symptom("S1", "Repetitive flow re-offloading", "virtual switch", 0.171, {
      looks_like:
        "Flows with live traffic are removed from the RNIC and offloaded again and again, while the number of flows is steady.",
      near_misses: [
        "Growth: many insertions, but all of new flows.",
        "A deliberate drain: flows are removed and not offloaded again.",
      ],
      definition: S1,
    }),
    symptom("S2", "Kernel stagnation", "driver", 0.059),
    symptom("S3", "Kernel crash on new flows", "driver", 0.052),
    symptom("S4", "Slow flow state maintenance", "hardware", 0.114),
    symptom("S5", "Intermittent software forwarding", "hardware", 0.153),
    symptom("S6", "Poor performance of specific flows", "hardware", 0.299),
    symptom("S7", "PCIe link down when unbinding VFs", "hardware", 0.084),
    symptom("S8", "RNIC unresponsiveness", "hardware", 0.068),
    behaviour("B1", "Guaranteed bandwidth is not lent (ETS not work-conserving)", [
      known(
        "CX-6 Dx",
        "Two queues at 50% each: one slowed by ECN, the other stays near 50 Gbit/s of 100.",
        "Lumina, section 6.2.1, Figure 10",
      ),
    ]),
    behaviour(
      "B4",
      "Counter of sent notifications stands still",
      [known("E810", "cnpSent stands still while CNPs are on the wire.", "Lumina, section 6.2.4")],
      {
        looks_like:
          "Packets with an ECN mark arrive and the RNIC answers with congestion notifications (CNPs), but its counter of sent notifications does not move.",
        near_misses: [
          "The notification point is disabled: then marks are not answered, and the counter is right.",
          "Few marks: below 1,000 within a minute nothing follows.",
        ],
        definition: B4,
      },
    ),
    symptom("unexplained", "Unexplained performance issue", null, null, {
      looks_like: "Bandwidth is far below the RNIC's recent level, and none of the eight symptoms explains it.",
    }),
    symptom("silent", "Silent host", null, null, {
      looks_like: "A host's samples have stopped while the rest of the fleet still reports.",
    }),
  ],
  causes: [
    cause("C1", "The virtual switch deletes entries that have not aged", 0.171, { S1: 0.9 }),
    cause("C2", "The driver does not handle the timeout of an operation", 0.059, { S2: 0.9 }),
    cause("C4", "Deleting a flow searches its dependencies", 0.114, { S4: 0.9, S1: 0.02 }),
    cause("C5", "Flow counters are not updated in time", 0.153, { S5: 0.9, S1: 0.6 }),
    cause("C6", "Masks are looked up one after another", 0.299, { S6: 0.9 }),
    cause("C7", "Race while the RNIC releases resources", 0.084, { S7: 0.9 }),
  ],
  walls: [
    named("offloaded_flows", "Offloaded flows", "flows", ["S1", "S5", "S6"], "flows_offloaded"),
    named("egress_masks", "Egress masks", "masks", ["S6"], "masks_egress"),
    named("ingress_masks", "Ingress masks", "masks", ["S6"], "masks_ingress"),
    named("flow_insertions", "Flow insertions", "flows/s", ["S2"], "flow_insertions_per_s"),
    named("encap_contexts", "Encapsulation contexts", "contexts", ["S8", "S2"], "encap_contexts"),
  ],
  models: ["CX-4", "CX-5", "CX-6", "CX-7", "BF-3", "E810", "BF-2", "CX-8", "P2100"],
  signals: [
    signal("reoffload_ratio", "Re-offload ratio", "ratio"),
    signal("stale_reoffload_share", "Re-offloads after a stale counter", "ratio"),
    signal("flows_offloaded", "Offloaded flows", "flows"),
    signal("q_egress", "Egress Q", "lookups"),
  ],
  fields: [
    field("rnic", "out_of_buffer", "Packets dropped because no receive buffer was posted", "packets"),
    field("rnic", "out_of_sequence", "Packets out of sequence", "packets"),
    field("rnic", "port_xmit_discards", "Packets dropped before sending", "packets"),
    field("rnic", "port_xmit_wait", "Ticks in which data waited to be sent", "ticks"),
    field("rnic", "packet_seq_err", "Negative acknowledgements for sequence errors", "packets"),
    field("rnic", "local_ack_timeout_err", "Acknowledgements that timed out", "events"),
    field("rnic", "np_cnp_sent", "Congestion notifications sent", "packets"),
    field("rnic", "rp_cnp_handled", "Congestion notifications handled", "packets"),
    field("rnic", "tx_gbps", "Sent", "Gbit/s", "gauge"),
    field("rnic", "fw_ver_stored", "Stored firmware", "none", "text"),
    field("rnic_offload", "flows_offloaded", "Offloaded flows", "flows", "gauge", "Flow entries that the RNIC holds"),
    field("rnic_offload", "masks_egress", "Egress masks", "masks", "gauge"),
    field("ovs_datapath", "flows", "Flows", "flows", "gauge", "Flows of the datapath"),
    field("ovs_datapath", "lost", "Packets lost on the way to user space", "packets"),
  ],
  isolation: {
    states: [
      word("kept", "kept", "The VF got what was promised to it."),
      word("broken", "broken", "A promise was broken although the VF stayed inside its envelope."),
      word("unknown", "unknown", "There is no evidence: samples are missing, or there was no traffic to judge by."),
      word("not promised", "not promised", "The VF has no SLO, or it is above its own envelope."),
    ],
    mechanisms: [
      word("ingress packet rate", "packet rate", "The RNIC receives more packets per second than it can process."),
      word("ingress bandwidth", "bandwidth", "The RNIC receives more bytes per second than it can process."),
      word("egress buffer", "egress buffer", "Waiting packets of a VF fill the transmit buffers that all VFs share."),
      word("pcie", "PCIe", "The RNIC waits for the PCIe bus, and packets pile up in its buffers."),
      word("cpu", "CPU", "The host's CPU, which processes packets of several VFs, is overloaded."),
    ],
    roles: [
      word("victim", "victim", "A promise to it is broken."),
      word("aggressor", "aggressor", "It takes more than its fair share."),
      word("beyond", "beyond its envelope", "It sends or receives more than its own maximum."),
    ],
  },
  states: STATES,
};
