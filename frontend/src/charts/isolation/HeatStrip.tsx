import { Group, Text, Tooltip } from "@mantine/core";
import { type KeyboardEvent, memo, type MouseEvent, useMemo } from "react";
import classes from "./HeatStrip.module.css";
import { STRIP_HEIGHT, type StripModel, stepAt, type StripPaths, stripPaths } from "./strip";

const KINDS = ["kept", "none", "unknown", "broken", "aggressor"] as const;

const Picture = memo(function Picture({ paths, count }: { paths: StripPaths; count: number }) {
  return (
    <svg
      className={classes["svg"]}
      viewBox={`0 0 ${count} ${STRIP_HEIGHT}`}
      preserveAspectRatio="none"
      shapeRendering="crispEdges"
      aria-hidden="true"
    >
      {KINDS.map(
        (kind) => paths[kind] && <path key={kind} className={classes[kind]} d={paths[kind]} data-kind={kind} />,
      )}
    </svg>
  );
});

interface Props {
  /** What the strip is about. */
  label: string;
  model: StripModel;
  /** The step under the reader's cursor, which all strips share; null when there is none. */
  at: number | null;
  onAt: (at: number | null) => void;
  /** What a step says. */
  describe: (at: number) => string;
}

const STEPS: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 };

/** How a promise fared over time, a cell per step; the lower lane is when the VF broke promises to others. */
export function HeatStrip({ label, model, at, onAt, describe }: Props) {
  const paths = useMemo(() => stripPaths(model), [model]);
  const { count } = model;
  const onMove = (event: MouseEvent<HTMLDivElement>) => {
    const box = event.currentTarget.getBoundingClientRect();
    onAt(stepAt((event.clientX - box.left) / Math.max(1, box.width), count));
  };
  const onKey = (event: KeyboardEvent) => {
    const edge = event.key === "Home" ? 0 : event.key === "End" ? count - 1 : null;
    const step = STEPS[event.key];
    if (edge === null && step === undefined) return;
    event.preventDefault();
    onAt(edge ?? Math.min(count - 1, Math.max(0, (at ?? count - 1) + (step ?? 0))));
  };
  return (
    <Tooltip.Floating label={at === null ? label : describe(at)} multiline maw={340}>
      <div
        className={classes["strip"]}
        role="slider"
        tabIndex={0}
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={count - 1}
        aria-valuenow={at ?? count - 1}
        aria-valuetext={describe(at ?? count - 1)}
        onMouseMove={onMove}
        onMouseLeave={() => onAt(null)}
        onFocus={() => at === null && onAt(count - 1)}
        onBlur={() => onAt(null)}
        onKeyDown={onKey}
      >
        <Picture paths={paths} count={count} />
        {at !== null && <div className={classes["cursor"]} style={{ left: `${((at + 0.5) / count) * 100}%` }} />}
      </div>
    </Tooltip.Floating>
  );
}

interface LegendEntry {
  kind: (typeof KINDS)[number];
  label: string;
}

const SHOWN: Readonly<Record<LegendEntry["kind"], { y: number; height: number }>> = {
  broken: { y: 0, height: 14 },
  unknown: { y: 9, height: 5 },
  kept: { y: 11, height: 3 },
  none: { y: 13, height: 1 },
  aggressor: { y: 12, height: 4 },
};

export function StripLegend({ entries }: { entries: readonly LegendEntry[] }) {
  return (
    <Group gap={12} aria-hidden="true">
      {entries.map(({ kind, label }) => (
        <Text key={kind} size="xs" c="dimmed" span style={{ whiteSpace: "nowrap" }}>
          <svg className={classes["swatch"]} width="12" height="16" viewBox="0 0 12 16" aria-hidden="true">
            <rect className={classes[kind]} x="0" width="12" {...SHOWN[kind]} />
          </svg>{" "}
          {label}
        </Text>
      ))}
    </Group>
  );
}
