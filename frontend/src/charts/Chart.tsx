import { useComputedColorScheme } from "@mantine/core";
import type { EChartsCoreOption } from "echarts/core";
import { useContext, useEffect, useRef } from "react";
import { type ChartTheme, readChartTheme } from "./chartTheme";
import { init } from "./echarts";
import { ChartEngine, type Painter } from "./engine";

export interface ChartProps {
  /** Pure: from the theme to ECharts' option. Memoise it; a new function repaints. */
  toOption: (theme: ChartTheme) => EChartsCoreOption;
  height: number;
  /** What the picture says, for those who can't see it. */
  label: string;
  onZoom?: (fromMs: number, toMs: number) => void;
  /** Charts of one group share their crosshair. */
  group?: string;
}

const onCanvas = (holder: HTMLElement): Painter => init(holder, undefined, { renderer: "canvas" });

/** The one place that touches ECharts. `data-painted` appears when the picture stands, so that browser tests never sleep. */
export function Chart({ toOption, height, label, group }: ChartProps) {
  const holder = useRef<HTMLDivElement>(null);
  const chart = useRef<Painter>(null);
  const colorScheme = useComputedColorScheme("dark", { getInitialValueInEffect: false });
  const paint = useContext(ChartEngine) ?? onCanvas;

  useEffect(() => {
    const element = holder.current;
    if (!element) return;
    const instance = paint(element);
    if (group) instance.group = group;
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
  }, [toOption, colorScheme, paint]);

  return <div ref={holder} role="img" aria-label={label} style={{ height, width: "100%" }} />;
}
