import { Table, Text } from "@mantine/core";
import { useId, useMemo } from "react";
import type { Automaton } from "@/lib/api/types";
import { HeadedTable } from "@/lib/ui/HeadedTable";
import { layout, LINE, RADIUS } from "./automatonLayout";
import classes from "./AutomatonView.module.css";

export const VERDICTS: Readonly<Record<"T" | "F" | "?", string>> = { T: "satisfied", F: "violated", "?": "open" };

interface Props {
  automaton: Automaton;
  /** Where the run stands, and from where it came there; null where that is unknown. */
  current?: number | null;
  previous?: number | null;
}

/** The automaton of a formula: states by their number and verdict, edges by the steps that take them. */
export function AutomatonView({ automaton, current = null, previous = null }: Props) {
  const id = useId();
  const { left, top, width, height, states, edges } = useMemo(() => layout(automaton), [automaton]);
  const marker = (taken: boolean) => `${id}${taken ? "t" : "a"}`;
  const isTaken = (source: number, target: number) => current !== null && previous === source && current === target;
  const standing = automaton.states.find((state) => state.id === current);
  return (
    <div>
      <svg
        className={classes["picture"]}
        viewBox={`${left} ${top} ${width} ${height}`}
        width={width}
        height={height}
        role="img"
        aria-label={`Automaton with ${states.length} states${standing ? `, now in state ${standing.id}: ${VERDICTS[standing.verdict]}` : ""}`}
        data-current-state={current ?? undefined}
      >
        <defs>
          {[false, true].map((taken) => (
            <marker
              key={String(taken)}
              id={marker(taken)}
              viewBox="0 0 8 8"
              refX="7.5"
              refY="4"
              markerWidth="8"
              markerHeight="8"
              markerUnits="userSpaceOnUse"
              orient="auto"
            >
              <path className={taken ? classes["arrowTaken"] : classes["arrow"]} d="M0 0L8 4L0 8z" />
            </marker>
          ))}
        </defs>
        <path
          className={classes["edge"]}
          markerEnd={`url(#${marker(false)})`}
          d={`M${(states[0]?.x ?? 0) - RADIUS - 32} ${states[0]?.y ?? 0}h30`}
        />
        {edges.map((edge) => {
          const taken = isTaken(edge.source, edge.target);
          return (
            <path
              key={edge.key}
              className={classes["edge"]}
              data-taken={taken || undefined}
              markerEnd={`url(#${marker(taken)})`}
              d={edge.path}
            />
          );
        })}
        {states.map((state) => {
          const here = state.id === current || undefined;
          return (
            <g key={state.id} data-state={state.id}>
              <title>{`State ${state.id}: ${VERDICTS[state.verdict]}${state.retired ? ", no verdict can follow" : ""}`}</title>
              <circle
                className={classes["state"]}
                data-verdict={state.verdict}
                data-retired={state.retired || undefined}
                data-current={here}
                cx={state.x}
                cy={state.y}
                r={RADIUS}
              />
              {state.verdict !== "?" && (
                <circle
                  className={classes["state"]}
                  data-verdict={state.verdict}
                  data-current={here}
                  cx={state.x}
                  cy={state.y}
                  r={RADIUS - 4}
                />
              )}
              <text className={classes["number"]} data-current={here} x={state.x} y={state.y + 4}>
                {state.id}
              </text>
              <text className={classes["verdict"]} data-verdict={state.verdict} x={state.x} y={state.y + RADIUS + 14}>
                {state.retired ? "retired" : VERDICTS[state.verdict]}
              </text>
            </g>
          );
        })}
        {edges.map((edge) => (
          <text
            key={edge.key}
            className={classes["guard"]}
            data-taken={isTaken(edge.source, edge.target) || undefined}
            x={edge.label.x}
            y={edge.label.y}
          >
            <title>{edge.guard}</title>
            {edge.lines.map((line, i) => (
              <tspan key={line} x={edge.label.x} dy={i === 0 ? 0 : LINE}>
                {line}
              </tspan>
            ))}
          </text>
        ))}
      </svg>
      <details>
        <Text component="summary" size="xs" c="dimmed" style={{ cursor: "pointer" }}>
          Show as table
        </Text>
        <HeadedTable label="Edges of the automaton" titles={["From", "To", "Condition"]}>
          {automaton.edges.map((edge) => (
            <Table.Tr key={`${edge.source} ${edge.target}`}>
              <Table.Td>{edge.source}</Table.Td>
              <Table.Td>
                {edge.target} ({VERDICTS[automaton.states[edge.target]?.verdict ?? "?"]})
              </Table.Td>
              <Table.Td style={{ fontFamily: "var(--ww-mono)" }}>{edge.guard}</Table.Td>
            </Table.Tr>
          ))}
        </HeadedTable>
      </details>
    </div>
  );
}
