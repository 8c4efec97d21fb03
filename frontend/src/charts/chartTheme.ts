/** The theme's tokens as plain colours: ECharts draws on a canvas, where CSS variables mean nothing. */
export interface ChartTheme {
  text: string;
  dim: string;
  line: string;
  panel: string;
  shade: string;
  bad: string;
  accent: string;
  series: readonly string[];
}

export function readChartTheme(element: Element): ChartTheme {
  const style = getComputedStyle(element);
  const token = (name: string) => style.getPropertyValue(`--ww-${name}`).trim() || "#808080";
  return {
    text: token("text"),
    dim: token("dim"),
    line: token("line"),
    panel: token("panel"),
    shade: token("shade"),
    bad: token("bad"),
    accent: token("accent"),
    series: ["series-1", "series-2", "series-3", "series-4"].map(token),
  };
}
