import type { Automaton } from "@/lib/api/types";

export const RADIUS = 20;
const COLUMN = 200;
const ROW = 104;
const MARGIN = { x: 56, top: 64, bottom: 44 };
const LABEL_LENGTH = 30;

export interface PlacedState {
  id: number;
  verdict: Automaton["states"][number]["verdict"];
  retired: boolean;
  x: number;
  y: number;
}

export interface PlacedEdge {
  key: string;
  source: number;
  target: number;
  guard: string;
  /** The guard in lines that fit beside the edge. */
  lines: string[];
  path: string;
  label: { x: number; y: number };
}

export interface Layout {
  width: number;
  height: number;
  states: PlacedState[];
  edges: PlacedEdge[];
}

/** Steps from the initial state, by breadth; what cannot be reached is put behind. */
export function distances(automaton: Automaton): Map<number, number> {
  const found = new Map([[0, 0]]);
  const waiting = [0];
  for (let state = waiting.shift(); state !== undefined; state = waiting.shift()) {
    for (const { source, target } of automaton.edges) {
      if (source !== state || found.has(target)) continue;
      found.set(target, (found.get(state) ?? 0) + 1);
      waiting.push(target);
    }
  }
  return found;
}

/** Cut at `|` into lines; a line that is still too long ends in dots (the whole guard is in the table beside the picture). */
export function guardLines(guard: string): string[] {
  const parts = guard.split(" | ").map((part) => (part.length > LABEL_LENGTH ? `${part.slice(0, LABEL_LENGTH - 1)}…` : part));
  const lines: string[] = [];
  for (const part of parts) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + part.length + 3 <= LABEL_LENGTH) lines[lines.length - 1] = `${last} | ${part}`;
    else lines.push(part);
  }
  return lines.map((line, i) => (i < lines.length - 1 ? `${line} |` : line));
}

function loop({ x, y }: PlacedState) {
  const top = y - RADIUS + 3;
  return { path: `M${x - 9} ${top}C${x - 30} ${y - 58} ${x + 30} ${y - 58} ${x + 9} ${top}`, label: { x, y: y - 52 } };
}

/** Bent to its left, so that an edge and the one back lie apart; one that jumps over columns is bent around what lies between. */
function curve(from: PlacedState, to: PlacedState) {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const length = Math.hypot(dx, dy);
  const [ux, uy] = [dx / length, dy / length];
  const bend = Math.abs(dx) > COLUMN * 1.5 ? 0.3 * length : 0.16 * length;
  const [mx, my] = [(from.x + to.x) / 2 + uy * bend, (from.y + to.y) / 2 - ux * bend];
  const toward = (fromX: number, fromY: number, x: number, y: number) => {
    const far = Math.hypot(x - fromX, y - fromY);
    return [fromX + ((x - fromX) / far) * RADIUS, fromY + ((y - fromY) / far) * RADIUS] as const;
  };
  const [sx, sy] = toward(from.x, from.y, mx, my);
  const [ex, ey] = toward(to.x, to.y, mx, my);
  const place = (value: number) => value.toFixed(1);
  return {
    path: `M${place(sx)} ${place(sy)}Q${place(mx)} ${place(my)} ${place(ex)} ${place(ey)}`,
    label: { x: (from.x + to.x) / 2 + uy * bend * 0.55, y: (from.y + to.y) / 2 - ux * bend * 0.55 },
  };
}

/** States in columns by their distance from the start. The loop of a final state says nothing and is left out. */
export function layout(automaton: Automaton): Layout {
  const column = distances(automaton);
  const rows = new Map<number, number>();
  const beyond = Math.max(0, ...column.values()) + 1;
  const states = automaton.states.map((state) => {
    const at = column.get(state.id) ?? beyond;
    const row = rows.get(at) ?? 0;
    rows.set(at, row + 1);
    // Odd columns are lowered, so that an edge over a column does not run through its states.
    return { ...state, x: MARGIN.x + at * COLUMN, y: MARGIN.top + row * ROW + (at % 2) * (ROW / 3) };
  });
  const place = new Map(states.map((state) => [state.id, state]));
  const edges = automaton.edges.flatMap(({ source, target, guard }) => {
    const [from, to] = [place.get(source), place.get(target)];
    if (!from || !to || (source === target && from.verdict !== "?")) return [];
    return [{ key: `${source} ${target}`, source, target, guard, lines: guardLines(guard), ...(source === target ? loop(from) : curve(from, to)) }];
  });
  const right = Math.max(...states.map(({ x }) => x), ...edges.map(({ label }) => label.x + 60));
  const bottom = Math.max(...states.map(({ y }) => y), ...edges.map(({ label }) => label.y));
  return { width: right + MARGIN.x, height: bottom + MARGIN.bottom, states, edges };
}
