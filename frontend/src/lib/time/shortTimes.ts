const STEPS = [
  { below: 0.001, unit: "ns", times: 1e6 },
  { below: 1, unit: "µs", times: 1e3 },
  { below: 1000, unit: "ms", times: 1 },
] as const;

/** A short time in milliseconds, in the unit that suits it, with three digits. */
export function formatMs(ms: number): string {
  if (ms === 0) return "0 s";
  const size = Math.abs(ms);
  const step = STEPS.find(({ below }) => size < below);
  const value = step ? ms * step.times : ms / 1000;
  return `${Number(value.toPrecision(3)).toLocaleString("en", { maximumFractionDigits: 9 })} ${step?.unit ?? "s"}`;
}

/** As `formatMs`, from nanoseconds; a dash where nothing is known. */
export function formatNs(ns: number | null | undefined): string {
  return ns === null || ns === undefined ? "–" : formatMs(ns / 1e6);
}
