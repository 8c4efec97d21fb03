/** Numbers with their units, as every page shows them. A missing value is a dash, never zero. */
export const MISSING = "–";

const plain = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

export function formatNumber(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return MISSING;
  const size = Math.abs(value);
  if (size >= 100_000) return compact.format(value);
  if (size >= 100 || Number.isInteger(value)) return plain.format(value);
  return String(Number(value.toPrecision(3)));
}

/** `none` and `ratio` have no sign in the registry of metrics: a ratio is shown as the number that thresholds are written in. */
export function formatValue(value: number | null | undefined, unit?: string | null): string {
  const text = formatNumber(value);
  if (text === MISSING || !unit || unit === "none" || unit === "ratio") return text;
  return `${text} ${unit}`;
}

/** A share of one, as per cent. */
export function formatShare(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return MISSING;
  const percent = value * 100;
  if (percent > 0 && percent < 0.1) return "< 0.1 %";
  return `${Math.abs(percent) < 10 && percent !== 0 ? percent.toFixed(1) : percent.toFixed(0)} %`;
}

/** Headroom is 1 - value / limit; below zero the wall is behind us. */
export function formatHeadroom(headroom: number | null | undefined): string {
  if (headroom === null || headroom === undefined || !Number.isFinite(headroom)) return "headroom not known";
  if (headroom < 0) return `${formatShare(-headroom)} past the wall`;
  return `${formatShare(headroom)} headroom`;
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${plain.format(count)} ${count === 1 ? one : many}`;
}
