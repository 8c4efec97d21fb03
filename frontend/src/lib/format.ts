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

/** A value with its unit. `none` has no sign; a `ratio` is shown in percent, as people speak of it. */
export function formatValue(value: number | null | undefined, unit?: string | null): string {
  if (unit === "ratio") return formatShare(value);
  const text = formatNumber(value);
  if (text === MISSING || !unit || unit === "none") return text;
  return `${text} ${unit}`;
}

/** A bound as findings and remedies write it (`< 0.05`, `>= 1000`) with the unit of its signal; one that has its unit stands as it is. */
export function formatExpected(expected: string | null | undefined, unit?: string | null): string {
  if (!expected) return MISSING;
  const bare = /^((?:[<>=≤≥]|at least|at most|below|above)*\s*)(-?\d+(?:\.\d+)?)$/.exec(expected.trim());
  if (bare?.[2] === undefined) return expected;
  const bound =
    unit === "ratio" ? `${Number((Number(bare[2]) * 100).toPrecision(6))}%` : formatValue(Number(bare[2]), unit);
  return `${bare[1] ?? ""}${bound}`;
}

/** A share of one, as percent. */
export function formatShare(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return MISSING;
  const percent = value * 100;
  if (percent > 0 && percent < 0.1) return "< 0.1%";
  return `${Math.abs(percent) < 10 && percent !== 0 ? percent.toFixed(1) : percent.toFixed(0)}%`;
}

/** How much of a limit is used, from the headroom (1 - value / limit): `79% of limit`, or `3.4× limit`. Below it, never rounded up to it. */
export function formatHeadroom(headroom: number | null | undefined): string {
  if (headroom === null || headroom === undefined || !Number.isFinite(headroom)) return "limit unknown";
  if (headroom < 0) return `${Number((1 - headroom).toPrecision(3))}× limit`;
  const percent = (1 - headroom) * 100;
  return percent > 1e-9 && percent < 1 - 1e-9 ? "< 1% of limit" : `${Math.floor(percent + 1e-9)}% of limit`;
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${plain.format(count)} ${count === 1 ? one : many}`;
}
