export const OBJECTIVES = [0.99, 0.999, 0.9999] as const;
export const DEFAULT_OBJECTIVE = 0.999;

/** The report as it stands in the URL; without a month it is this one. */
export interface ReportSearch {
  month?: string;
  by?: "vf";
  objective?: number;
}

const MONTH = /^20\d\d-(0[1-9]|1[0-2])$/;

export function parseReportSearch(search: Record<string, unknown>): ReportSearch {
  const { month, by } = search;
  const found: ReportSearch = {};
  if (typeof month === "string" && MONTH.test(month)) found.month = month;
  if (by === "vf") found.by = by;
  const objective = OBJECTIVES.find((each) => each === Number(search["objective"]));
  if (objective !== undefined && objective !== DEFAULT_OBJECTIVE) found.objective = objective;
  return found;
}

/** The month of a time, in UTC as the report counts: `2026-11`. */
export function monthOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 7);
}

/** A month some months before or after another one. */
export function monthBy(month: string, by: number): string {
  const [year = 0, number = 1] = month.split("-").map(Number);
  return monthOf(Date.UTC(year, number - 1 + by, 1));
}

/** `November 2026` */
export function monthName(month: string): string {
  return new Intl.DateTimeFormat("en", { month: "long", year: "numeric", timeZone: "UTC" }).format(
    Date.parse(`${month}-01T00:00:00Z`),
  );
}

const LISTED = 12;

/** The last year of months, newest first; one that lies further back is listed too while it is chosen. */
export function monthChoices(nowMs: number, chosen: string): { value: string; label: string }[] {
  const now = monthOf(nowMs);
  const months = Array.from({ length: LISTED }, (_, i) => monthBy(now, -i));
  if (!months.includes(chosen)) months.push(chosen);
  return months.map((month) => ({ value: month, label: monthName(month) }));
}

export function reportHref(month: string, by: "vf" | "tenant", objective: number, format: "csv" | "json"): string {
  return `/api/v1/isolation/report?${new URLSearchParams({ month, by, objective: String(objective), format }).toString()}`;
}
