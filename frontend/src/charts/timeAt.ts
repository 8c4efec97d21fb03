import type { Painter } from "./engine";

/** The time under a place of the picture; null where there is no axis yet. */
export function timeAt(chart: Painter, x: number): number | null {
  const found: unknown = chart.convertFromPixel({ xAxisIndex: 0 }, x);
  return typeof found === "number" && Number.isFinite(found) ? found : null;
}
