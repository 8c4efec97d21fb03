import { formatTime, type Zone } from "@/lib/time/format";

const DAY_MS = 86_400_000;

/** Times as a chart writes them: on the axis the clock, of a range of days the day too; in full in the tooltip. */
export function timeFormats(zone: Zone, fromMs: number, toMs: number) {
  const days = toMs - fromMs > DAY_MS;
  return {
    axis: (ms: number) => {
      const text = formatTime(ms, zone);
      return days ? text.slice(5, 16) : text.slice(11, 19).replace(/:00$/, "");
    },
    tooltip: (ms: number) => formatTime(ms, zone),
  };
}
