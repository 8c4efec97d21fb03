import type { PredictedFunction } from "@/lib/api/types";
import { formatNumber, formatShare } from "@/lib/format";

export const RESOURCES: Readonly<Record<string, string>> = { memory: "memory", accelerator: "accelerator" };

/** Columns of profiles in words. */
export const COLUMNS: Readonly<Record<string, string>> = {
  flows: "flows",
  packet_bytes: "packet size",
  ipc: "instructions per cycle",
  instructions: "instructions",
  l2_reads: "cache reads",
  l2_writes: "cache writes",
  memory_reads: "memory reads",
  memory_writes: "memory writes",
  working_set_mb: "working set",
};

export function kpps(value: number | null): string {
  return value === null ? "–" : `${formatNumber(Math.round(value))} kpps`;
}

/** What competitors take, and where. */
export function lostText(found: PredictedFunction): string {
  return found.bottleneck === null ? "nothing lost" : `−${formatShare(found.drop)}, ${RESOURCES[found.bottleneck]}`;
}

export type SlaTone = "good" | "warn" | "bad" | "quiet";

/** Below this headroom an SLA is close to breaking. */
const CLOSE = 0.2;

export function slaState(found: PredictedFunction): { tone: SlaTone; text: string } {
  if (found.sla_drop === null || found.headroom === null) return { tone: "quiet", text: "no SLA" };
  const of = `of at most −${formatShare(found.sla_drop)}`;
  if (found.headroom < 0) return { tone: "bad", text: `broken: −${formatShare(found.sla_value)} ${of}` };
  const left = `${formatShare(found.headroom)} left`;
  if (found.headroom < CLOSE) return { tone: "warn", text: `${left} ${of}` };
  return { tone: "good", text: `${left} ${of}` };
}

/** Why a prediction is less certain than usual; undefined where it is not. */
export function doubt(found: PredictedFunction): string | undefined {
  const reasons = [];
  if (found.unknown_competitors.length > 0)
    reasons.push(`the own load of ${found.unknown_competitors.join(", ")} is unknown, so this is too high`);
  if (found.outside.length > 0)
    reasons.push(
      `outside of what was measured in ${found.outside.map((name) => COLUMNS[name] ?? name).join(", ")}: the interval is widened`,
    );
  return reasons.length > 0 ? reasons.join("; ") : undefined;
}

/** Measured throughput leaves the prediction by so much when the model is stale or something else takes it. */
export const DEVIATES = 0.1;

/** A function that processes this close to what arrives keeps up: the two counters are not read at the same moment. */
const ALL = 0.01;

export function deviationText(found: PredictedFunction): string | undefined {
  if (found.deviation === null) return undefined;
  if (found.offered_kpps !== null && found.offered_kpps < found.throughput_kpps && Math.abs(found.deviation) < ALL) {
    return "all that arrives";
  }
  const sign = found.deviation < 0 ? "−" : "+";
  return `${sign}${formatShare(Math.abs(found.deviation))} of predicted`;
}
