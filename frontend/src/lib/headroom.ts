/** Headroom is 1 - value / limit of the nearest wall. The bands are what the wall's colours and the summary mean. */
export type Band = "beyond" | "near" | "low" | "fair" | "ample" | "unknown";

export interface BandInfo {
  band: Band;
  label: string;
  /** What the band says, for legends and screen readers. */
  range: string;
}

export const BANDS: readonly BandInfo[] = [
  { band: "beyond", label: "Past a wall", range: "headroom below 0 %" },
  { band: "near", label: "At a wall", range: "0 to 10 %" },
  { band: "low", label: "Low", range: "10 to 25 %" },
  { band: "fair", label: "Fair", range: "25 to 50 %" },
  { band: "ample", label: "Ample", range: "50 % and more" },
  { band: "unknown", label: "Not known", range: "no wall could be measured" },
];

export function bandOf(headroom: number | null | undefined): Band {
  if (headroom === null || headroom === undefined || !Number.isFinite(headroom)) return "unknown";
  if (headroom < 0) return "beyond";
  if (headroom < 0.1) return "near";
  if (headroom < 0.25) return "low";
  if (headroom < 0.5) return "fair";
  return "ample";
}

export function bandColor(band: Band): string {
  return `var(--ww-band-${band})`;
}

/** A sample older than this is shown as stale: three times the slowest collection interval, in milliseconds. */
export const STALE_AFTER_MS = 45_000;
