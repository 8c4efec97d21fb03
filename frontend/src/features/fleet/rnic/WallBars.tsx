import { Group, Text, Tooltip } from "@mantine/core";
import type { WallValue } from "@/lib/api/types";
import { formatHeadroom, formatNumber, formatValue } from "@/lib/format";
import { bandColor, bandOf } from "@/lib/headroom";
import { EmptyState } from "@/lib/ui/EmptyState";
import { SymptomBadge } from "@/lib/ui/SymptomBadge";
import classes from "./WallBars.module.css";

const BASIS: Readonly<Record<string, string>> = {
  paper: "Limit from the published measurements of this model.",
  model: "Limit from the performance model of this RNIC: the point where bandwidth drops sharply.",
  assumed: "No measurement for this model: the limit of the nearest known model is assumed.",
  calibrated: "Limit from a calibration promoted for this model; see its profile.",
};

/** The bar's full width stands for this share of the limit, so that a value past its wall still has a length. */
export const SCALE = 1.25;

export function barWidth(value: number | null, limit: number | null): number | null {
  if (value === null || limit === null || limit <= 0) return null;
  return Math.min(100, Math.max(0, (value / limit / SCALE) * 100));
}

export function WallBars({ walls, nearest }: { walls: readonly WallValue[]; nearest: string | null }) {
  if (walls.length === 0) {
    return (
      <EmptyState title="No limits known for this RNIC">
        Its model has no profile yet. Add one to the catalogue of RNIC profiles, and its limits appear here.
      </EmptyState>
    );
  }
  return (
    <ul className={classes["list"]} aria-label="Walls">
      {walls.map((wall) => {
        const width = barWidth(wall.value, wall.limit);
        return (
          <li key={wall.wall} className={classes["row"]} data-wall={wall.wall}>
            <Group gap={6} wrap="nowrap">
              <Text size="sm" fw={wall.wall === nearest ? 700 : 400}>
                {wall.label}
              </Text>
              {wall.wall === nearest && (
                <Text size="xs" c="dimmed">
                  nearest
                </Text>
              )}
            </Group>
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
            <Text size="sm" ta="right" style={{ whiteSpace: "nowrap" }}>
              <b>{formatNumber(wall.value)}</b>
              <Text span size="sm" c="dimmed">
                {" "}
                / {formatValue(wall.limit, wall.unit)}
              </Text>
            </Text>
            <Text size="xs" c="dimmed" style={{ whiteSpace: "nowrap" }}>
              {formatHeadroom(wall.headroom)}
            </Text>
            <Tooltip label={BASIS[wall.basis ?? ""] ?? "The source of this limit is unknown."} multiline w={260}>
              <Text size="xs" c="dimmed" tabIndex={0} style={{ borderBottom: "1px dotted", width: "fit-content" }}>
                {wall.basis ?? "source unknown"}
              </Text>
            </Tooltip>
            <Group gap={3} wrap="nowrap" aria-label="Leads to">
              {wall.leads_to.map((symptom) => (
                <SymptomBadge key={symptom} symptom={symptom} />
              ))}
            </Group>
          </li>
        );
      })}
    </ul>
  );
}
