/** How much of its nearest limit an RNIC uses, by headroom (1 - value / limit). The bands are what the fleet's colours and the summary mean. */
export type Band = "beyond" | "near" | "high" | "moderate" | "low" | "unknown";

export interface BandInfo {
  band: Band;
  label: string;
  /** What the band says, for legends and screen readers. */
  range: string;
}

export const BANDS: readonly BandInfo[] = [
  { band: "beyond", label: "Over limit", range: "past a hardware limit (a wall), where behaviour degrades sharply" },
  { band: "near", label: "Near limit", range: "90 to 100% of limit" },
  { band: "high", label: "High", range: "75 to 90% of limit" },
  { band: "moderate", label: "Moderate", range: "50 to 75% of limit" },
  { band: "low", label: "Low", range: "up to 50% of limit" },
  { band: "unknown", label: "Unknown", range: "no limit could be measured" },
];

export function bandOf(headroom: number | null | undefined): Band {
  if (headroom === null || headroom === undefined || !Number.isFinite(headroom)) return "unknown";
  if (headroom < 0) return "beyond";
  if (headroom < 0.1) return "near";
  if (headroom < 0.25) return "high";
  if (headroom < 0.5) return "moderate";
  return "low";
}

export function bandColor(band: Band): string {
  return `var(--ww-band-${band})`;
}
