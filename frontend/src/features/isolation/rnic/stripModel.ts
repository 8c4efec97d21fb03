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

export interface VfRow {
  strip: VfStrip;
  model: StripModel;
  brokenS: number;
  aggressorS: number;
}

function total(cells: readonly IsolationCell[], of: "broken_s" | "aggressor_s"): number {
  return cells.reduce((sum, cell) => sum + cell[of], 0);
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
      brokenS: total(strip.cells, "broken_s"),
      aggressorS: total(strip.cells, "aggressor_s"),
    }))
    .sort(
      (a, b) => Number(b.brokenS + b.aggressorS > 0) - Number(a.brokenS + a.aggressorS > 0) || a.strip.vf - b.strip.vf,
    );
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

/** A VF's time in the strip, in words. */
export function rowText({ brokenS, aggressorS }: Pick<VfRow, "brokenS" | "aggressorS">): string {
  return (
    [brokenS > 0 && `${secondsText(brokenS)} broken`, aggressorS > 0 && `${secondsText(aggressorS)} as aggressor`]
      .filter(Boolean)
      .join(", ") || "not broken"
  );
}
