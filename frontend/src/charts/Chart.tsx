import { useMantineColorScheme } from "@mantine/core";
import type { EChartsCoreOption } from "echarts/core";
import { useEffect, useRef } from "react";
import { type ChartTheme, readChartTheme } from "./chartTheme";
import { type EChartsType, init } from "./echarts";

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

/** The one place that touches ECharts. `data-painted` appears when the picture stands, so that browser tests never sleep. */
export function Chart({ toOption, height, label, group }: ChartProps) {
  const holder = useRef<HTMLDivElement>(null);
  const chart = useRef<EChartsType>(null);
  const { colorScheme } = useMantineColorScheme();

  useEffect(() => {
    const element = holder.current;
    if (!element) return;
    const instance = init(element, undefined, { renderer: "canvas" });
    if (group) instance.group = group;
    chart.current = instance;
    const observer = new ResizeObserver(() => instance.resize());
    observer.observe(element);
    return () => {
      observer.disconnect();
      instance.dispose();
      chart.current = null;
    };
  }, [group]);

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
  }, [toOption, colorScheme]);

  return <div ref={holder} role="img" aria-label={label} style={{ height, width: "100%" }} />;
}
