import { Text, Tooltip } from "@mantine/core";
import type { Series, WallValue } from "@/lib/api/types";
import { useCatalogue } from "@/lib/api/useCatalogue";
import { formatHeadroom, formatNumber, formatValue } from "@/lib/format";
import { bandColor, bandOf } from "@/lib/headroom";
import { EmptyState } from "@/lib/ui/EmptyState";
import classes from "./LimitList.module.css";
import { sparkPath } from "@/lib/sparkline";

const BASIS: Readonly<Record<string, string>> = {
  paper: "Limit from the published measurements of this model.",
  model: "Limit from the performance model of this RNIC: the point where bandwidth drops sharply.",
  assumed: "No measurement for this model: the limit of the nearest known model is assumed.",
  calibrated: "Limit from a calibration promoted for this model; see its profile.",
};
const SPARK_WIDTH = 84;
const SPARK_HEIGHT = 20;

/** The bar's full width stands for this share of the limit, so that a value past its wall still has a length. */
export const SCALE = 1.25;

export function barWidth(value: number | null, limit: number | null): number | null {
  if (value === null || limit === null || limit <= 0) return null;
  return Math.min(100, Math.max(0, (value / limit / SCALE) * 100));
}

function about({ basis, leads_to }: WallValue): string {
  const leads = leads_to.length > 0 ? ` Past it: ${leads_to.join(", ")}.` : "";
  return `${BASIS[basis ?? ""] ?? "The source of this limit is unknown."}${leads}`;
}

function Spark({ wall, values }: { wall: WallValue; values: readonly (number | null)[] | undefined }) {
  const { line, limitY } = sparkPath(values ?? [], wall.limit, SPARK_WIDTH, SPARK_HEIGHT);
  return (
    <svg className={classes["spark"]} viewBox={`0 0 ${SPARK_WIDTH} ${SPARK_HEIGHT}`} aria-hidden="true">
      {limitY !== null && (
        <line x1={0} x2={SPARK_WIDTH} y1={limitY} y2={limitY} stroke="var(--ww-bad)" strokeDasharray="3 2" />
      )}
      {line === "" ? (
        <line x1={0} x2={SPARK_WIDTH} y1={SPARK_HEIGHT - 1} y2={SPARK_HEIGHT - 1} stroke="var(--ww-line)" />
      ) : (
        <path d={line} fill="none" stroke="var(--ww-accent)" strokeWidth={1.4} />
      )}
    </svg>
  );
}

interface Props {
  walls: readonly WallValue[];
  nearest: string | null;
  /** The page's series, of which each limit shows its own field. */
  series: Series | undefined;
}

/** Every hardware limit with how much of it is used, and how it came to that. */
export function LimitList({ walls, nearest, series }: Props) {
  const { data } = useCatalogue();
  if (walls.length === 0) {
    return (
      <EmptyState title="No limits known for this RNIC">
        Its model has no profile yet. Add one to the catalogue of RNIC profiles, and its limits appear here.
      </EmptyState>
    );
  }
  return (
    <ul className={classes["list"]} aria-label="Limits">
      {walls.map((wall) => {
        const width = barWidth(wall.value, wall.limit);
        const signal = data?.walls.find((each) => each.id === wall.wall)?.signal ?? "";
        return (
          <li key={wall.wall} data-wall={wall.wall}>
            <div className={classes["head"]}>
              <Tooltip label={about(wall)} multiline w={280}>
                <Text size="sm" fw={wall.wall === nearest ? 700 : 400} tabIndex={0} className={classes["name"]}>
                  {wall.label}
                  {wall.wall === nearest && (
                    <Text span size="xs" c="dimmed">
                      {" "}
                      nearest
                    </Text>
                  )}
                </Text>
              </Tooltip>
              <Text size="sm">
                <b>{formatNumber(wall.value)}</b>
                <Text span size="sm" c="dimmed">
                  {" "}
                  / {formatValue(wall.limit, wall.unit)}
                </Text>
              </Text>
            </div>
            <div className={classes["body"]}>
              <div
                className={classes["track"]}
                role="img"
                aria-label={`${wall.label}: ${formatValue(wall.value, wall.unit)} of ${formatValue(wall.limit, wall.unit)}, ${formatHeadroom(wall.headroom)}`}
              >
                {width !== null && (
                  <div
                    className={classes["bar"]}
                    style={{ width: `${width}%`, background: bandColor(bandOf(wall.headroom)) }}
                  />
                )}
                <div className={classes["limit"]} style={{ left: `${100 / SCALE}%` }} />
              </div>
              <Spark wall={wall} values={series?.values[signal]} />
              <Text size="xs" c="dimmed" ta="right" style={{ whiteSpace: "nowrap" }}>
                {formatHeadroom(wall.headroom)}
              </Text>
            </div>
          </li>
        );
      })}
    </ul>
  );
}
