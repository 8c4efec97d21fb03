import type { FoundCause, LabDevice } from "@/lib/api/types";
import { causeTitle } from "./labText";

export interface DiagramNode {
  id: string;
  label: string;
  column: 0 | 1 | 2;
  row: number;
}

export interface DiagramEdge {
  from: DiagramNode;
  to: DiagramNode;
  /** Ids of the causes whose path goes along here. */
  causes: number[];
}

export interface Diagram {
  nodes: DiagramNode[];
  edges: DiagramEdge[];
  rows: number;
}

const UNKNOWN = "Unknown component";

function parametersOf(cause: FoundCause): string[] {
  const named = cause.conditions.flatMap(({ parameter, expression, moved_by }) =>
    parameter === null ? (expression?.match(/[A-Za-z_]\w*/g) ?? []) : [parameter, ...moved_by],
  );
  return [...new Set(named)];
}

/**
 * Parameter → component → what goes wrong, each once, rows in the order of the causes. Components come from the device's
 * description; where that is gone, a cause with one component still says it.
 */
export function diagramOf(causes: readonly FoundCause[], device: LabDevice | undefined): Diagram {
  const components = new Map(device?.parameters.map(({ name, component }) => [name, component]));
  const nodes = new Map<string, DiagramNode>();
  const edges = new Map<string, DiagramEdge>();
  const rows: [number, number, number] = [0, 0, 0];
  const node = (column: 0 | 1 | 2, label: string): DiagramNode => {
    const id = `${column}|${label}`;
    const known = nodes.get(id);
    if (known) return known;
    const made = { id, label, column, row: rows[column]++ };
    nodes.set(id, made);
    return made;
  };
  const connect = (from: DiagramNode, to: DiagramNode, cause: number) => {
    const id = `${from.id}>${to.id}`;
    const known = edges.get(id);
    if (!known) edges.set(id, { from, to, causes: [cause] });
    else if (!known.causes.includes(cause)) known.causes.push(cause);
  };
  for (const cause of causes) {
    const end = node(2, causeTitle(cause));
    const only = cause.components.length === 1 ? cause.components[0] : undefined;
    for (const parameter of parametersOf(cause)) {
      const through = node(1, components.get(parameter) || only || UNKNOWN);
      connect(node(0, parameter), through, cause.id);
      connect(through, end, cause.id);
    }
  }
  return { nodes: [...nodes.values()], edges: [...edges.values()], rows: Math.max(...rows) };
}
