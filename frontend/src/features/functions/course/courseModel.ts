import type { SeriesModel } from "@/charts/series/model";
import type { FunctionCourse } from "@/lib/api/types";
import { formatShare } from "@/lib/format";

const MINUTE_MS = 60_000;

interface Formats {
  axis: (ms: number) => string;
  tooltip: (ms: number) => string;
}

/** What a function lost, by measurement and by model, what it will lose if traffic goes on, and what it may lose. */
export function courseModel({ past, coming, sla_drop }: FunctionCourse, formats: Formats): SeriesModel {
  const timesMs = past.map(({ at }) => Date.parse(at));
  const nowMs = timesMs.at(-1) ?? 0;
  const aheadMs = coming.map(({ in_min }) => nowMs + in_min * MINUTE_MS);
  const all = [...timesMs, ...aheadMs];
  return {
    timesMs: all,
    fromMs: all[0] ?? 0,
    toMs: all.at(-1) ?? 0,
    intervals: [],
    mark: coming.length > 0 ? { atMs: nowMs, label: "now" } : undefined,
    limit:
      sla_drop === null ? undefined : { value: sla_drop, label: `may lose ${formatShare(sla_drop)}`, always: true },
    formatTime: formats.axis,
    formatTooltipTime: formats.tooltip,
    lines: [
      {
        name: "loss",
        label: "Lost",
        unit: "ratio",
        values: [...past.map(({ loss }) => loss), ...coming.map(() => null)],
      },
      {
        name: "predicted_loss",
        label: "Predicted",
        unit: "ratio",
        dashed: true,
        values: [...past.map(({ predicted_loss }) => predicted_loss), ...coming.map(({ loss }) => loss)],
      },
    ],
  };
}
