import type { ChartTable } from "../table";
import type { SeriesModel } from "./model";

/** A row for each time at which something was read, a column for each line. */
export function seriesTable({ timesMs, lines, formatTooltipTime }: SeriesModel): ChartTable {
  const rows = timesMs.flatMap((ms, i) => {
    const values = lines.map((line) => line.values[i] ?? null);
    return values.some((value) => value !== null) ? [[formatTooltipTime(ms), ...values]] : [];
  });
  const named = lines.map(({ label, unit }) => (unit === "" || unit === "none" ? label : `${label} (${unit})`));
  return { columns: ["Time", ...named], rows };
}
