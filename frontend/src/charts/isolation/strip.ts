/** What a cell shows: how a promise fared in one step of time. */
export type CellKind = "broken" | "unknown" | "kept" | "none";

export interface StripCell {
  atMs: number;
  kind: CellKind;
  /** Share of the step in which the promise was broken, and in which the VF broke others': 0 to 1. */
  broken: number;
  aggressor: number;
}

export interface StripModel {
  fromMs: number;
  stepMs: number;
  count: number;
  /** One cell per step; undefined where nothing is known of it. */
  cells: readonly (StripCell | undefined)[];
}

/** The cells at their places; what lies outside, or is sent twice, does not count. */
export function toStrip(cells: readonly StripCell[], fromMs: number, toMs: number, stepMs: number): StripModel {
  const count = Math.max(1, Math.round((toMs - fromMs) / stepMs));
  const placed = new Array<StripCell | undefined>(count).fill(undefined);
  for (const cell of cells) {
    const at = Math.floor((cell.atMs - fromMs) / stepMs + 1e-6);
    if (at >= 0 && at < count) placed[at] = cell;
  }
  return { fromMs, stepMs, count, cells: placed };
}

/** Heights in the strip, from its top: the upper lane is what happened to the VF, the lower one what it did to others. */
export const STRIP_HEIGHT = 20;
const LANE = 14;
const LOWER_LANE = { y: 16, height: 4 };

/** Colour is not the only signal: the worse, the taller. A broken cell has three heights, by how much of it was broken. */
const HEIGHTS: Readonly<Record<CellKind, number>> = { broken: LANE, unknown: 5, kept: 3, none: 1 };

function heightOf({ kind, broken }: StripCell): number {
  if (kind !== "broken") return HEIGHTS[kind];
  return broken > 2 / 3 ? LANE : broken > 1 / 3 ? LANE - 3 : LANE - 6;
}

export interface StripPaths {
  broken: string;
  unknown: string;
  kept: string;
  none: string;
  aggressor: string;
}

interface Run {
  key: CellKind | "aggressor";
  from: number;
  to: number;
  y: number;
  height: number;
}

function path({ from, to, y, height }: Run): string {
  return `M${from} ${y}H${to}V${y + height}H${from}Z`;
}

/** One path per kind, neighbouring cells of one height as one rectangle: strips of many VFs stay cheap to draw. */
export function stripPaths({ cells }: Pick<StripModel, "cells">): StripPaths {
  const paths: StripPaths = { broken: "", unknown: "", kept: "", none: "", aggressor: "" };
  const open: { upper?: Run; lower?: Run } = {};
  const put = (lane: "upper" | "lower", next: Omit<Run, "to"> | undefined, at: number) => {
    const last = open[lane];
    if (last && (!next || last.key !== next.key || last.height !== next.height)) {
      paths[last.key] += path({ ...last, to: at });
      open[lane] = undefined;
    }
    if (next && !open[lane]) open[lane] = { ...next, to: at };
  };
  cells.forEach((cell, i) => {
    const height = cell && heightOf(cell);
    put("upper", cell && height ? { key: cell.kind, from: i, y: LANE - height, height } : undefined, i);
    put("lower", cell && cell.aggressor > 0 ? { key: "aggressor", from: i, ...LOWER_LANE } : undefined, i);
  });
  put("upper", undefined, cells.length);
  put("lower", undefined, cells.length);
  return paths;
}

/** The step at a share of the strip's width. */
export function stepAt(share: number, count: number): number {
  return Math.min(count - 1, Math.max(0, Math.floor(share * count)));
}
