/** Headroom is 1 - value / limit of the nearest wall. The bands are what the fleet's colours and the summary mean. */
export type Band = "beyond" | "near" | "low" | "fair" | "ample" | "unknown";

export interface BandInfo {
  band: Band;
  label: string;
  /** What the band says, for legends and screen readers. */
  range: string;
}

export const BANDS: readonly BandInfo[] = [
  { band: "beyond", label: "Over limit", range: "past a hardware limit (a wall), where behaviour degrades sharply" },
  { band: "near", label: "Near limit", range: "0 to 10% left" },
  { band: "low", label: "Low", range: "10 to 25% left" },
  { band: "fair", label: "Fair", range: "25 to 50% left" },
  { band: "ample", label: "Ample", range: "50% or more left" },
  { band: "unknown", label: "Unknown", range: "no limit could be measured" },
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
