import { useComputedColorScheme } from "@mantine/core";
import type { EChartsCoreOption } from "echarts/core";
import { useCallback, useContext, useEffect, useRef } from "react";
import classes from "./Chart.module.css";
import { ChartMenu } from "./ChartMenu";
import { type ChartTheme, readChartTheme } from "./chartTheme";
import { init, link } from "./echarts";
import { ChartEngine, type Painter } from "./engine";
import type { ChartTable } from "./table";
import { useBrush } from "./useBrush";
import { type Pickable, type PickAt, usePick } from "./usePick";

export interface ChartProps {
  /** Pure: from the theme to ECharts' option. Memoise it; a new function repaints. */
  toOption: (theme: ChartTheme) => EChartsCoreOption;
  height: number;
  /** What the picture says, for those who can't see it. */
  label: string;
  /** Of its menu: what the chart is called, and its numbers. */
  title: string;
  table: () => ChartTable;
  /** Called with the time that someone has dragged over. */
  onZoom?: (fromMs: number, toMs: number) => void;
  onZoomOut?: () => void;
  /** Charts of one group share their crosshair. */
  group?: string;
  /** What a click at a place leads to, and the same for the menu. */
  pickAt?: PickAt;
  pickable?: readonly Pickable[];
}

const onCanvas = (holder: HTMLElement): Painter => init(holder, undefined, { renderer: "canvas" });

/** The one place that touches ECharts. `data-painted` appears when the picture stands, so that browser tests never sleep. */
export function Chart({
  toOption,
  height,
  label,
  title,
  table,
  onZoom,
  onZoomOut,
  group,
  pickAt,
  pickable,
}: ChartProps) {
  const holder = useRef<HTMLDivElement>(null);
  const chart = useRef<Painter>(null);
  const colorScheme = useComputedColorScheme("dark", { getInitialValueInEffect: false });
  const paint = useContext(ChartEngine) ?? onCanvas;
  const brushed = useBrush(holder, chart, onZoom);
  usePick(holder, chart, pickAt);

  useEffect(() => {
    const element = holder.current;
    if (!element) return;
    const instance = paint(element);
    if (group) {
      instance.group = group;
      link(group);
    }
    chart.current = instance;
    const observer = new ResizeObserver(() => instance.resize());
    observer.observe(element);
    return () => {
      observer.disconnect();
      instance.dispose();
      chart.current = null;
    };
  }, [group, paint]);

  useEffect(() => {
    const instance = chart.current;
    const element = holder.current;
    if (!instance || !element) return;
    const painted = () => element.setAttribute("data-painted", "true");
    instance.on("finished", painted);
    instance.setOption({ animation: false, ...toOption(readChartTheme(element)) }, { notMerge: true });
    return () => {
      instance.off("finished", painted);
    };
  }, [toOption, colorScheme, paint, group]);

  const picture = useCallback(() => {
    const [instance, element] = [chart.current, holder.current];
    if (!instance || !element) return null;
    return instance.getDataURL({ type: "png", pixelRatio: 2, backgroundColor: readChartTheme(element).panel });
  }, []);

  return (
    <div className={classes["chart"]}>
      <div
        ref={holder}
        role="img"
        aria-label={label}
        className={onZoom && classes["zoomable"]}
        style={{ height, width: "100%" }}
        onDoubleClick={onZoomOut}
      />
      {brushed && <div className={classes["brush"]} style={brushed} />}
      <ChartMenu title={title} table={table} picture={picture} pickable={pickable} />
    </div>
  );
}
