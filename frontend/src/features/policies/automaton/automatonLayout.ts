import type { Automaton } from "@/lib/api/types";

export const RADIUS = 20;
/** Between the lines of a label. */
export const LINE = 13;
const ROW = 118;
const MARGIN = 14;
const LEAST_COLUMN = 150;
const LABEL_LENGTH = 30;
const MOST_LINES = 3;
/** Of one character of a label, 11 px monospaced. */
const CHARACTER = 6.7;
const ARROW_IN = 50;

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
  /** The guard in lines that fit next to the edge. */
  lines: string[];
  path: string;
  /** Middle of the first line's foot. */
  label: { x: number; y: number };
}

export interface Layout {
  left: number;
  top: number;
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

/** Cut at `|` into lines; a line that is still too long ends in dots (the whole guard is in the table below the picture). */
export function guardLines(guard: string): string[] {
  const parts = guard
    .split(" | ")
    .map((part) => (part.length > LABEL_LENGTH ? `${part.slice(0, LABEL_LENGTH - 1)}…` : part));
  const lines: string[] = [];
  for (const part of parts) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + part.length + 3 <= LABEL_LENGTH)
      lines[lines.length - 1] = `${last} | ${part}`;
    else lines.push(part);
  }
  const shown = lines.length > MOST_LINES ? [...lines.slice(0, MOST_LINES - 1), "…"] : lines;
  return shown.map((line, i) => (i < shown.length - 1 ? `${line} |` : line));
}

function widthOf(lines: readonly string[]): number {
  return Math.max(...lines.map((line) => line.length)) * CHARACTER;
}

/** Labels of loops stand above, so that those of edges to the right have their place next to them. */
function loop({ x, y }: PlacedState, lines: readonly string[]) {
  const top = y - RADIUS + 3;
  return {
    path: `M${x - 9} ${top}C${x - 28} ${y - 56} ${x + 28} ${y - 56} ${x + 9} ${top}`,
    label: { x, y: y - 52 - (lines.length - 1) * LINE },
  };
}

/** Bent to its left, so that an edge and the one back lie apart; one that jumps over columns is bent around what lies between. */
function curve(from: PlacedState, to: PlacedState, columns: number, lines: readonly string[]) {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const length = Math.hypot(dx, dy);
  const [ux, uy] = [dx / length, dy / length];
  const bend = Math.abs(columns) > 1 ? 130 + 30 * Math.abs(columns) : 34;
  const [mx, my] = [(from.x + to.x) / 2 + uy * bend, (from.y + to.y) / 2 - ux * bend];
  const toward = (fromX: number, fromY: number, x: number, y: number) => {
    const far = Math.hypot(x - fromX, y - fromY);
    return [fromX + ((x - fromX) / far) * RADIUS, fromY + ((y - fromY) / far) * RADIUS] as const;
  };
  const [sx, sy] = toward(from.x, from.y, mx, my);
  const [ex, ey] = toward(to.x, to.y, mx, my);
  const place = (value: number) => value.toFixed(1);
  const above = dx >= 0;
  const [lx, ly] = [(from.x + to.x) / 2 + (uy * bend) / 2, (from.y + to.y) / 2 - (ux * bend) / 2];
  return {
    path: `M${place(sx)} ${place(sy)}Q${place(mx)} ${place(my)} ${place(ex)} ${place(ey)}`,
    label: { x: lx, y: above ? ly - 5 - (lines.length - 1) * LINE : ly + 14 },
  };
}

/** Each column begins where the labels of the edges before it have their place. */
function columnPlaces(automaton: Automaton, column: (state: number) => number): number[] {
  const most = Math.max(...automaton.states.map(({ id }) => column(id)));
  const places = [0];
  for (let at = 0; at < most; at++) {
    const between = automaton.edges.filter(
      ({ source, target }) =>
        Math.min(column(source), column(target)) === at && Math.abs(column(source) - column(target)) === 1,
    );
    const widest = Math.max(0, ...between.map(({ guard }) => widthOf(guardLines(guard))));
    places.push((places[at] ?? 0) + Math.max(LEAST_COLUMN, widest + 2 * RADIUS + 24));
  }
  return places;
}

/** States in columns by their distance from the start. The loop of a final state says nothing and is left out. */
export function layout(automaton: Automaton): Layout {
  const reached = distances(automaton);
  const beyond = Math.max(0, ...reached.values()) + 1;
  const column = (state: number) => reached.get(state) ?? beyond;
  const places = columnPlaces(automaton, column);
  const rows = new Map<number, number>();
  const states = automaton.states.map((state) => {
    const at = column(state.id);
    const row = rows.get(at) ?? 0;
    rows.set(at, row + 1);
    return { ...state, x: places[at] ?? 0, y: row * ROW };
  });
  const place = new Map(states.map((state) => [state.id, state]));
  const edges = automaton.edges.flatMap(({ source, target, guard }) => {
    const [from, to] = [place.get(source), place.get(target)];
    if (!from || !to || (source === target && from.verdict !== "?")) return [];
    const lines = guardLines(guard);
    const drawn = source === target ? loop(from, lines) : curve(from, to, column(target) - column(source), lines);
    return [{ key: `${source} ${target}`, source, target, guard, lines, ...drawn }];
  });
  return framed(states, edges);
}

/** The box around everything; coordinates may be negative. */
function framed(states: PlacedState[], edges: PlacedEdge[]): Layout {
  const half = ({ lines }: PlacedEdge) => widthOf(lines) / 2;
  const left =
    Math.min(
      ...states.map(({ x, id }) => x - RADIUS - (id === 0 ? ARROW_IN : 0)),
      ...edges.map((edge) => edge.label.x - half(edge)),
    ) - MARGIN;
  const right =
    Math.max(...states.map(({ x }) => x + RADIUS + 12), ...edges.map((edge) => edge.label.x + half(edge))) + MARGIN;
  const top = Math.min(...states.map(({ y }) => y - RADIUS), ...edges.map(({ label }) => label.y - LINE)) - MARGIN;
  const bottom =
    Math.max(
      ...states.map(({ y }) => y + RADIUS + 18),
      ...edges.map(({ label, lines }) => label.y + lines.length * LINE),
    ) +
    MARGIN / 2;
  return { left, top, width: right - left, height: bottom - top, states, edges };
}
