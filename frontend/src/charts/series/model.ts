export interface SeriesLine {
  name: string;
  label: string;
  unit: string;
  /** One value per time; null where nothing was read, which leaves a gap in the line. */
  values: readonly (number | null)[];
  dashed?: boolean;
}

export interface Interval {
  symptom: string;
  fromMs: number;
  /** Null while it lasts. */
  toMs: number | null;
  /** Where a click on it leads, in the words of whoever draws the chart. */
  target?: string;
}

export interface SeriesModel {
  timesMs: readonly number[];
  lines: readonly SeriesLine[];
  intervals: readonly Interval[];
  fromMs: number;
  toMs: number;
  /** Names of the lines between which the area is filled: what a forecast holds for possible. */
  band?: { low: string; high: string };
  /** A wall, or what was expected: drawn as a line across when it lies near the data, or always. */
  limit?: { value: number; label: string; always?: boolean };
  /** A moment that is marked by a line upright. */
  mark?: { atMs: number; label: string };
  /** Moments at which something changed: thin lines upright, which the page names elsewhere. */
  events?: readonly number[];
  /** How intervals are drawn: `area` (the default) shades what they cover, `ribbon` is a thin band on top, for those that may last. */
  intervalsAs?: "area" | "ribbon";
  formatTime: (ms: number) => string;
  formatTooltipTime: (ms: number) => string;
}
