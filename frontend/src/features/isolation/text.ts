import type { SloPromise } from "@/lib/api/types";
import { formatNumber, MISSING } from "@/lib/format";
import { formatDuration } from "@/lib/time/format";

type Maybe = number | null | undefined;

/** A rate in the unit that leaves at most three digits before the point: `940 Mbit/s`, `3.2 Gbit/s`. */
export function rateText(mbps: Maybe): string {
  if (mbps === null || mbps === undefined) return MISSING;
  return mbps >= 1000 ? `${formatNumber(mbps / 1000)} Gbit/s` : `${formatNumber(mbps)} Mbit/s`;
}

/** `2.2 of 10 Gbit/s`, as two parts: the rate, and what it is compared with. */
export function rateParts(mbps: Maybe, ofMbps: number): [rate: string, of: string] {
  const rate = rateText(mbps);
  const sameUnit = mbps !== null && mbps !== undefined && mbps >= 1000 === ofMbps >= 1000;
  return [sameUnit ? (rate.split(" ")[0] ?? rate) : rate, ` of ${rateText(ofMbps)}`];
}

/** `1 to 10 Gbit/s`; each end has its own unit where the units differ. */
export function envelopeText(minMbps: number, maxMbps: number): string {
  if (minMbps === 0) return `up to ${rateText(maxMbps)}`;
  const sameUnit = minMbps >= 1000 === maxMbps >= 1000;
  const low = rateText(minMbps);
  return `${sameUnit ? (low.split(" ")[0] ?? low) : low} to ${rateText(maxMbps)}`;
}

export function delayText(us: Maybe): string {
  if (us === null || us === undefined) return MISSING;
  return us >= 1000 ? `${formatNumber(us / 1000)} ms` : `${formatNumber(us)} µs`;
}

/** A share of packets, which is often far below the tenth of a percent that other shares are rounded to. */
export function lossText(share: Maybe): string {
  return share === null || share === undefined ? MISSING : `${Number((share * 100).toPrecision(3))}%`;
}

const DAY_S = 86_400;

/** A sum of seconds, exact while it is short; of days three figures, since it is compared with other sums. */
export function secondsText(seconds: Maybe): string {
  if (seconds === null || seconds === undefined) return MISSING;
  if (seconds >= 2 * DAY_S) return `${formatNumber(Number((seconds / DAY_S).toPrecision(3)))} days`;
  return seconds > 0 && seconds < 10 ? `${Number(seconds.toPrecision(2))} s` : formatDuration(seconds * 1000);
}

/** How much of its time a promise was kept: never rounded up to all of it, since one broken second is what people look for. */
export function keptText(share: Maybe): string {
  if (share === null || share === undefined) return MISSING;
  if (share >= 1) return "100%";
  return `${(Math.floor(share * 100_000) / 1000).toFixed(share >= 0.99 ? 3 : 1)}%`;
}

type Bounds = Pick<SloPromise, "min_mbps" | "max_mbps" | "p50_us" | "p99_us" | "loss">;

/** What delay and loss are bounded to, each bound once: `p99 ≤ 50 µs · loss ≤ 0.01%` */
export function boundsText({ p50_us, p99_us, loss }: Omit<Bounds, "min_mbps" | "max_mbps">): string {
  return [
    p50_us !== null && p50_us !== undefined && `p50 ≤ ${delayText(p50_us)}`,
    p99_us !== null && p99_us !== undefined && `p99 ≤ ${delayText(p99_us)}`,
    loss !== null && loss !== undefined && `loss ≤ ${lossText(loss)}`,
  ]
    .filter(Boolean)
    .join(" · ");
}

/** A whole promise in a line. */
export function promiseText(slo: Bounds): string {
  return [envelopeText(slo.min_mbps, slo.max_mbps), boundsText(slo)].filter(Boolean).join(" · ");
}

/** Where a promise comes from: its class, or the CNI configuration of the pod. */
export function promiseName(slo: Pick<SloPromise, "name">): string {
  return slo.name ?? "from the CNI configuration";
}

/** A VF by the pod that holds it, as people speak of it. */
export function vfName({ vf, pod }: { vf: number; pod: string | null }): string {
  return pod ?? `VF ${vf}`;
}

export function tenantText(tenant: string | null): string {
  return tenant ?? "unknown tenant";
}
