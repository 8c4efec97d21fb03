import type { Capture, CaptureAnalysis, CaptureQueuePair, CaptureSeries } from "@/lib/api/types";
import type { SequenceModel } from "@/charts/sequence/model";
import { plural } from "@/lib/format";
import type { Tone } from "@/lib/ui/StatusMark";

/** What the uploader says about a file. */
export interface UploadOptions {
  rocePort: string;
  timeout: number;
  lumina: boolean;
  rttUs: number | null;
}

export const DEFAULT_OPTIONS: UploadOptions = { rocePort: "4791", timeout: 14, lumina: false, rttUs: null };

export function uploadUrl(name: string, { rocePort, timeout, lumina, rttUs }: UploadOptions): string {
  const query = new URLSearchParams({ name, roce_port: rocePort, timeout: String(timeout) });
  if (lumina) query.set("events", "lumina");
  if (rttUs !== null) query.set("rtt_us", String(rttUs));
  return `/api/v1/captures?${query.toString()}`;
}

/** Whether the port of a form is one that the API takes. */
export function isPort(text: string): boolean {
  return text === "any" || (/^\d{1,5}$/.test(text) && Number(text) > 0 && Number(text) < 65_536);
}

export function isOpen({ state }: Pick<Capture, "state">): boolean {
  return state === "queued" || state === "analysing";
}

export function formatBytes(bytes: number): string {
  const steps = [
    [1e9, "GB"],
    [1e6, "MB"],
    [1e3, "kB"],
  ] as const;
  const [size, unit] = steps.find(([least]) => bytes >= least) ?? [1, "B"];
  return `${Number((bytes / size).toPrecision(3))} ${unit}`;
}

/** The state of a capture, or its verdict once there is one. */
export function verdictOf(capture: Pick<Capture, "state" | "progress" | "summary">): { tone: Tone; text: string } {
  const { state, summary } = capture;
  if (state === "queued") return { tone: "waiting", text: "Queued" };
  if (state === "analysing") return { tone: "waiting", text: `Analysing, ${Math.round(100 * capture.progress)}%` };
  if (state === "failed" || !summary) return { tone: "bad", text: "Failed" };
  if (!summary.conforms) return { tone: "bad", text: plural(summary.violations, "violation") };
  if (summary.roce === 0) return { tone: "quiet", text: "No RoCE packets" };
  return { tone: "good", text: "Conforms" };
}

const VIOLATIONS: Readonly<Record<string, string>> = {
  not_go_back_n: "One packet was sent again and new data followed, or the resend began at another PSN than the NACK’s",
  ack_goes_back: "An acknowledgement is below an earlier one",
  second_nack_in_flight: "A second NACK before the sender reacted to the first",
  nack_wrong_psn: "The NACK names another PSN than the first missing one",
  no_nack_after_gap: "A gap, and no NACK until the sender’s timer ran out",
};

export function violationText(kind: string): string {
  return VIOLATIONS[kind] ?? kind;
}

const SCOPES: Readonly<Record<string, string>> = {
  per_port: "per port",
  per_destination: "per destination",
  per_qp: "per queue pair",
};

/** The scope of a receiver's limiter, with those that the capture cannot tell from it. */
export function scopeText(point: CaptureAnalysis["notification_points"][number]): string {
  const names = [point.mode, ...point.also_possible].filter((name): name is string => name !== null);
  return names.length > 0 ? names.map((name) => SCOPES[name] ?? name).join(" or ") : "undecided";
}

/** A queue pair in words: it is one at its destination. */
export function queuePairText({
  qpn,
  destination,
  network,
}: Pick<CaptureQueuePair, "qpn" | "destination" | "network">) {
  const tunnel = network === null ? "" : ` in network ${network}`;
  return `QP ${qpn} of ${destination}${tunnel}`;
}

const NS_PER_MS = 1e6;

/** A series as requests return it: there, pairs are arrays. */
export type SeriesAnswer = Pick<CaptureSeries, "stride" | "cnps"> & {
  [Name in "points" | "losses" | "nacks"]: readonly (readonly number[])[];
} & { resent: readonly (readonly (number | string)[])[] };

/** A series of the API as the chart wants it. */
export function sequenceOf(series: SeriesAnswer): SequenceModel {
  const spot = ([ns = 0, psn = 0]: readonly number[]) => [ns / NS_PER_MS, psn] as const;
  return {
    points: series.points.map(spot),
    stride: series.stride,
    resent: series.resent.map(([ns, psn, kind]) => ({
      at: [Number(ns) / NS_PER_MS, Number(psn)] as const,
      kind: String(kind),
    })),
    losses: series.losses.map(spot),
    nacks: series.nacks.map(spot),
    cnps: series.cnps.map((ns) => ns / NS_PER_MS),
  };
}

/** Position of a time on a logarithmic scale from 100 ns to 1 s, as a share. */
export function logShare(ns: number): number {
  return Math.min(1, Math.max(0, (Math.log10(Math.max(ns, 1)) - 2) / 7));
}
