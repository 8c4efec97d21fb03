import type { Rnic } from "@/lib/api/types";
import type { Names } from "@/lib/api/useCatalogue";
import { formatHeadroom } from "@/lib/format";
import { bandOf } from "@/lib/headroom";
import { formatDuration } from "@/lib/time/format";

export type StatusTone = "good" | "warn" | "bad";

export interface RnicStatus {
  tone: StatusTone;
  text: string;
  /** The incident that the sentence is about. */
  incident: string | null;
}

type Facts = Pick<
  Rnic,
  "headroom" | "nearest_wall" | "symptoms" | "seen_at" | "stale_after_s" | "walls" | "tx_gbps" | "rx_gbps"
>;

/** Whether an RNIC is reported, but nothing of its flows: absent numbers are not healthy ones. */
export function withoutFlows({ seen_at, walls, tx_gbps, rx_gbps }: Omit<Facts, "symptoms" | "stale_after_s">): boolean {
  return seen_at !== null && tx_gbps === null && rx_gbps === null && walls.every(({ value }) => value === null);
}

function limitText({ headroom, nearest_wall: wall }: Facts, names: Names): string {
  return wall === null ? formatHeadroom(headroom) : `${names.wall(wall)} at ${formatHeadroom(headroom)}`;
}

/** One sentence: what is wrong, since when, and which limit it is about. */
export function statusOf(rnic: Facts, names: Names, now: number): RnicStatus {
  const active = rnic.symptoms.filter((each) => each.until === null);
  const silentMs = rnic.seen_at === null ? null : now - Date.parse(rnic.seen_at);
  const stale = silentMs === null || silentMs > 1000 * rnic.stale_after_s;
  const lead = active[0];
  const incident = active.find((each) => each.incident_id !== null)?.incident_id ?? null;
  if (lead) {
    const since = lead.since === null ? "" : ` for ${formatDuration(now - Date.parse(lead.since))}`;
    const more = active.length > 1 ? ` and ${active.length - 1} more` : "";
    const words = `${names.symptom(lead.symptom)}${since}${more}; ${limitText(rnic, names)}`;
    return { tone: "bad", text: words, incident };
  }
  if (stale)
    return {
      tone: "warn",
      text: silentMs === null ? "No telemetry received yet" : `No telemetry for ${formatDuration(silentMs)}`,
      incident,
    };
  if (withoutFlows(rnic))
    return { tone: "warn", text: "Flows are not measured: limits and symptoms S1 to S8 are not judged", incident };
  const band = bandOf(rnic.headroom);
  if (band === "beyond") return { tone: "bad", text: `${limitText(rnic, names)}, no symptoms`, incident };
  if (band === "near") return { tone: "warn", text: `Near limit: ${limitText(rnic, names)}, no symptoms`, incident };
  if (band === "unknown") return { tone: "good", text: "No symptoms; its limits are unknown", incident };
  return { tone: "good", text: `Healthy; nearest limit: ${limitText(rnic, names)}`, incident };
}

type NodeReport = NonNullable<Rnic["node"]>["nvsentinel"][number];

/** What NVSentinel says of the node, or of the RNIC, in a few words. */
export function reportText({ name, since }: NodeReport, now: number): string {
  const age = formatDuration(now - Date.parse(since));
  return name === "cordon" ? `NVSentinel cordoned the node ${age} ago` : `NVSentinel: ${name} for ${age}`;
}

/** Where the host is in Kubernetes; null where it is no node, or nothing but its name is known. */
export function nodeText(node: Rnic["node"]): string | null {
  const parts = [node?.zone, node?.instance_type, node?.unschedulable && "unschedulable"].filter(Boolean);
  return parts.length > 0 ? parts.join(" · ") : null;
}
