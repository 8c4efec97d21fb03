import type { SloReport, SloReportRow } from "@/lib/api/types";
import { secondsText } from "../text";

/** How much of the error budget is used, of 1; null without any evidence. More than 1: the objective was missed. */
export function usedBudget({ budget_s, budget_left_s, kept_s, broken_s }: SloReportRow): number | null {
  if (kept_s + broken_s === 0) return null;
  const used = budget_s - budget_left_s;
  return budget_s > 0 ? used / budget_s : used > 0 ? Infinity : 0;
}

/** `12 s of 43 min left`, or by how much it is exceeded. */
export function budgetText(row: SloReportRow): string {
  if (usedBudget(row) === null) return "no evidence";
  return row.budget_left_s < 0
    ? `exceeded by ${secondsText(-row.budget_left_s)}`
    : `${secondsText(row.budget_left_s)} of ${secondsText(row.budget_s)} left`;
}

export interface ReportTotals {
  keptShare: number | null;
  brokenS: number;
  unknownS: number;
  met: number;
  missed: number;
}

/** All rows together. */
export function totalsOf({ rows }: Pick<SloReport, "rows">): ReportTotals {
  const sum = (of: (row: SloReportRow) => number) => rows.reduce((total, row) => total + of(row), 0);
  const kept = sum((row) => row.kept_s);
  const brokenS = sum((row) => row.broken_s);
  return {
    keptShare: kept + brokenS > 0 ? kept / (kept + brokenS) : null,
    brokenS,
    unknownS: sum((row) => row.unknown_s),
    met: rows.filter((row) => row.met === true).length,
    missed: rows.filter((row) => row.met === false).length,
  };
}
