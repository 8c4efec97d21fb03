import type { FoundCause, LabDevice } from "@/lib/api/types";
import classes from "./CauseDiagram.module.css";
import { type DiagramNode, diagramOf } from "./diagram";

const WIDTH = 1000;
const BOX = { width: 250, height: 34 };
const ROW = 46;
const TOP = 24;
const COLUMNS = [1, (WIDTH - BOX.width) / 2, WIDTH - BOX.width - 1] as const;
const TITLES = ["Parameter", "Component", "What goes wrong"] as const;
const LONGEST = 30;

const shortened = (text: string) => (text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text);

/** Which parameter goes through which component to which symptom; the same is said in words by the panels of the causes. */
export function CauseDiagram({ causes, device }: { causes: readonly FoundCause[]; device: LabDevice | undefined }) {
  const { nodes, edges, rows } = diagramOf(causes, device);
  const height = TOP + rows * ROW;
  const counts = [0, 1, 2].map((column) => nodes.filter((node) => node.column === column).length);
  // A column with fewer boxes stands in the middle of the highest one.
  const topOf = ({ column, row }: DiagramNode) => TOP + row * ROW + ((rows - (counts[column] ?? 0)) * ROW) / 2;
  const said = edges.map(({ from, to }) => `${from.label} to ${to.label}`).join(", ");
  return (
    <svg
      className={classes["diagram"]}
      viewBox={`0 0 ${WIDTH} ${height}`}
      role="img"
      aria-label={`Causal diagram: ${said}`}
    >
      {TITLES.map((title, column) => (
        <text key={title} x={(COLUMNS[column] ?? 0) + 2} y={12} className={classes["head"]}>
          {title}
        </text>
      ))}
      {edges.map(({ from, to, causes: ids }) => {
        const x1 = COLUMNS[from.column] + BOX.width;
        const x2 = COLUMNS[to.column];
        const [y1, y2] = [topOf(from) + BOX.height / 2, topOf(to) + BOX.height / 2];
        const middle = (x1 + x2) / 2;
        return (
          <path
            key={`${from.id}>${to.id}`}
            d={`M${x1},${y1} C${middle},${y1} ${middle},${y2} ${x2},${y2}`}
            className={classes["edge"]}
          >
            <title>{`Cause ${ids.join(", ")}: ${from.label} to ${to.label}`}</title>
          </path>
        );
      })}
      {nodes.map((node) => (
        <g key={node.id} transform={`translate(${COLUMNS[node.column]},${topOf(node)})`}>
          <rect
            width={BOX.width}
            height={BOX.height}
            rx={4}
            className={[classes["box"], node.column === 2 && classes["end"]].filter(Boolean).join(" ")}
          />
          <text
            x={12}
            y={BOX.height / 2 + 4.5}
            className={[classes["label"], node.column === 0 && classes["name"]].filter(Boolean).join(" ")}
          >
            {shortened(node.label)}
            <title>{node.label}</title>
          </text>
        </g>
      ))}
    </svg>
  );
}
