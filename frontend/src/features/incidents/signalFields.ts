import type { Catalogue } from "@/lib/api/types";

/**
 * What to look at for a signal that is computed: the measured fields that it is made of. A picture of the parts is shown,
 * never a value that this page computed itself.
 */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  bandwidth_share: ["q_egress", "q_ingress"],
  latency_share: ["q_egress", "q_ingress"],
  bandwidth_lost: ["q_egress", "q_ingress"],
  software_share: ["software_packets_per_s"],
  population_change: ["flows_offloaded"],
  live_share: ["flow_deletions_per_s", "reoffloads_per_s"],
  counter_gap_share: ["counter_gap_p95_s", "max_idle_ms"],
  flows_wall_share: ["flows_offloaded"],
  insertions_wall_share: ["flow_insertions_per_s"],
  encap_wall_share: ["encap_contexts"],
  overdue_share: ["flows_overdue", "flows_offloaded"],
  deletion_share: ["deletion_ms"],
  dump_duration_ms: ["ovs_datapath.dump_duration_ms"],
  port_gbps: ["tx_gbps", "rx_gbps"],
  port_share: ["tx_gbps", "rx_gbps"],
  port_frozen_s: ["tx_gbps", "rx_gbps"],
};

/** Numeric fields by which a signal can be drawn: those the catalogue names, else its parts that the catalogue knows. */
export function fieldsOf(signal: string, catalogue: Pick<Catalogue, "signals" | "fields">): string[] {
  const named = catalogue.signals.find((each) => each.signal === signal)?.fields ?? [];
  if (named.length > 0) return named;
  const numeric = new Set(catalogue.fields.filter((field) => field.kind !== "text").flatMap((field) => [field.name, `${field.measurement}.${field.name}`]));
  return (PARTS[signal] ?? []).filter((name) => numeric.has(name));
}
