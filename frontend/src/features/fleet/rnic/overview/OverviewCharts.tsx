import { Text } from "@mantine/core";
import { useViewportSize } from "@mantine/hooks";
import { useId, useMemo } from "react";
import type { SeriesModel } from "@/charts/series/model";
import { SeriesChart } from "@/charts/series/SeriesChart";
import type { FindingInterval, RnicChange, RnicPerformance, Series, WallValue } from "@/lib/api/types";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { toMarks } from "../events";
import { CHARTS, toModel, withExpected } from "../seriesModels";
import { timeFormats } from "../timeFormats";
import { useOpenIncident } from "../useOpenIncident";
import classes from "./OverviewCharts.module.css";
import { Ribbon } from "./Ribbon";

/** What an operator looks at first, in this order; the other charts stand under Flows & masks. */
const SHOWN = ["throughput", "flows", "q", "ratio"];
const LOWEST_PX = 104;
const HIGHEST_PX = 190;
/** What of the window's height is not the charts': on a laptop they fill the rest of it with the least height. */
const AROUND_PX = 384;
/** The time axis stands under the lowest chart only. */
const AXIS_PX = 15;

/** `, Gbit/s`; nothing for a pure number, and for what the title counts by name. */
function unitOf({ lines }: SeriesModel, title: string): string {
  const unit = lines[0]?.unit ?? "none";
  return unit === "none" || unit === "ratio" || title.toLowerCase().includes(unit) ? "" : `, ${unit}`;
}

interface Props {
  series: Series;
  findings: readonly FindingInterval[];
  changes: readonly RnicChange[];
  walls: readonly WallValue[];
  performance: RnicPerformance | undefined;
  onZoom: (fromMs: number, toMs: number) => void;
  onZoomOut: () => void;
}

/** Four charts on one time axis with one crosshair; above them, when symptoms were present and what changed. */
export function OverviewCharts({ series, findings, changes, walls, performance, onZoom, onZoomOut }: Props) {
  const group = useId();
  const openIncident = useOpenIncident();
  const { height: window } = useViewportSize();
  const height = Math.round(Math.min(HIGHEST_PX, Math.max(LOWEST_PX, (window - AROUND_PX) / SHOWN.length)));
  const { zone } = useTimeFormat();
  const [fromMs, toMs] = [Date.parse(series.from), Date.parse(series.to)];
  const marks = useMemo(() => toMarks(changes, fromMs, toMs), [changes, fromMs, toMs]);
  const charts = useMemo(() => {
    const formats = timeFormats(zone, fromMs, toMs);
    const events = marks.map((mark) => mark.fromMs);
    return CHARTS.filter(({ key }) => SHOWN.includes(key))
      .sort((a, b) => SHOWN.indexOf(a.key) - SHOWN.indexOf(b.key))
      .map((spec) => {
        const model = { ...toModel(spec, series, findings, walls, formats), events };
        return { spec, model: spec.key === "throughput" ? withExpected(model, performance) : model };
      });
  }, [series, findings, walls, performance, marks, zone, fromMs, toMs]);
  return (
    <>
      <Ribbon findings={findings} marks={marks} fromMs={fromMs} toMs={toMs} onZoom={onZoom} />
      {charts.map(({ spec, model }, i) => {
        const lowest = i === charts.length - 1;
        const known = model.lines.some((line) => line.values.some((value) => value !== null));
        return (
          <div key={spec.key} className={classes["chart"]}>
            <Text size="xs" fw={600} className={classes["title"]}>
              {spec.title}
              {unitOf(model, spec.title)}
              {!known && (
                <Text span size="xs" c="dimmed">
                  {" "}
                  no data in this range
                </Text>
              )}
            </Text>
            <SeriesChart
              model={model}
              title={spec.title}
              height={lowest ? height + AXIS_PX : height}
              stacked
              timeAxis={lowest}
              legendLeft={240}
              group={group}
              onZoom={onZoom}
              onZoomOut={onZoomOut}
              onOpen={openIncident}
            />
          </div>
        );
      })}
    </>
  );
}
