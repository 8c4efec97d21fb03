import { type CellKind, type StripCell, type StripModel, toStrip } from "@/charts/isolation/strip";
import type { IsolationCell, IsolationState, IsolationStrip, VfStrip } from "@/lib/api/types";
import { secondsText } from "../text";
import type { Words } from "../useWords";

const KINDS: Readonly<Record<IsolationState, CellKind>> = {
  broken: "broken",
  unknown: "unknown",
  kept: "kept",
  "not promised": "none",
};

const STATES = Object.keys(KINDS) as IsolationState[];

function toCell(cell: IsolationCell, stepS: number): StripCell {
  return {
    atMs: Date.parse(cell.at),
    kind: KINDS[cell.state],
    broken: Math.min(1, cell.broken_s / stepS),
    aggressor: Math.min(1, cell.aggressor_s / stepS),
  };
}

/** Seconds of the strip by what happened in them. */
export interface StripTotals {
  broken: number;
  aggressor: number;
  unknown: number;
  kept: number;
}

export interface VfRow {
  strip: VfStrip;
  model: StripModel;
  totals: StripTotals;
}

function totalsOf(cells: readonly IsolationCell[], stepS: number): StripTotals {
  const totals = { broken: 0, aggressor: 0, unknown: 0, kept: 0 };
  for (const { state, broken_s, aggressor_s } of cells) {
    totals.broken += broken_s;
    totals.aggressor += aggressor_s;
    if (state === "unknown" || state === "kept") totals[state] += stepS;
  }
  return totals;
}

function isInvolved({ totals }: VfRow): boolean {
  return totals.broken > 0 || totals.aggressor > 0;
}

/** A row per VF: those that suffered or made others suffer first, then by number. */
export function toRows({ since, until, step_s, vfs }: IsolationStrip): VfRow[] {
  const [from, to] = [Date.parse(since), Date.parse(until)];
  return vfs
    .map((strip) => ({
      strip,
      model: toStrip(
        strip.cells.map((cell) => toCell(cell, step_s)),
        from,
        to,
        step_s * 1000,
      ),
      totals: totalsOf(strip.cells, step_s),
    }))
    .sort((a, b) => Number(isInvolved(b)) - Number(isInvolved(a)) || a.strip.vf - b.strip.vf);
}

/** One step of one VF in words, such as `broken for 40 s, aggressor for 3 s`. */
export function stepText(model: StripModel, at: number, words: Words): string {
  const cell = model.cells[at];
  if (!cell) return "no data";
  const long = model.stepMs > 1000;
  const lasted = (share: number) => (long ? ` for ${secondsText((share * model.stepMs) / 1000)}` : "");
  const state = STATES.find((each) => KINDS[each] === cell.kind) ?? "unknown";
  return [
    `${words.state(state).label}${cell.kind === "broken" ? lasted(cell.broken) : ""}`,
    cell.aggressor > 0 && `${words.role("aggressor").label}${lasted(cell.aggressor)}`,
  ]
    .filter(Boolean)
    .join(", ");
}

/** A VF's time in the strip, in words: the worst first, and what is unknown never left out. */
export function rowText({ broken, aggressor, unknown, kept }: StripTotals, words: Words): string {
  const parts = [
    broken > 0 && `${words.state("broken").label} ${secondsText(broken)}`,
    aggressor > 0 && `${words.role("aggressor").label} ${secondsText(aggressor)}`,
    unknown > 0 && `${words.state("unknown").label} ${secondsText(unknown)}`,
  ].filter(Boolean);
  return parts.length > 0 ? parts.join(", ") : words.state(kept > 0 ? "kept" : "not promised").label;
}
