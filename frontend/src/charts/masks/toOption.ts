import type { EChartsCoreOption } from "echarts/core";
import { formatNumber } from "@/lib/format";
import type { ChartTheme } from "../chartTheme";
import { type Html, html, tooltipFormatter } from "../tooltip";
import type { MaskModel } from "./model";

/** A match is one long word; the tooltip breaks it after commas, some 60 characters a line. */
export function wrapMatch(match: string, width = 60): Html {
  const lines: string[] = [];
  let line = "";
  for (const part of match.split(/(?<=,)/)) {
    if (line.length + part.length > width && line) {
      lines.push(line);
      line = "";
    }
    line += part;
  }
  if (line) lines.push(line);
  return html`${lines.map((each) => html`${each}`)}`;
}

/**
 * The chain in the order in which the eSwitch asks: the head (no query before it) at the left, packets as height. Traffic
 * at the right costs the most queries; the line at Q shows the mean (paper, section 4.2).
 */
export function masksToOption(model: MaskModel, theme: ChartTheme): EChartsCoreOption {
  const bars = [...model.bars].sort((a, b) => a.position - b.position);
  const at = new Map(bars.map((bar, i) => [bar.position, i]));
  const qIndex =
    model.q === null
      ? undefined
      : (at.get(Math.round(model.q)) ?? (model.q <= (bars.at(-1)?.position ?? -1) ? Math.round(model.q) : undefined));
  return {
    grid: { left: 52, right: 14, top: 22, bottom: 36 },
    tooltip: {
      trigger: "axis",
      axisPointer: { type: "shadow" },
      confine: true,
      backgroundColor: theme.panel,
      borderColor: theme.line,
      textStyle: { color: theme.text, fontSize: 12 },
      formatter: tooltipFormatter((points: { dataIndex: number }[]) => {
        const bar = bars[points[0]?.dataIndex ?? -1];
        if (!bar) return html``;
        return html`${[
          html`<b>Position ${bar.position}</b> · mask ${bar.mask}`,
          html`${formatNumber(bar.packets)} packets/s · ${formatNumber(bar.flows)} flows ·
          ${formatNumber(bar.lengthBits)} bits`,
          html`<span style="font-family:monospace;font-size:11px">${wrapMatch(bar.match)}</span>`,
        ]}`;
      }),
    },
    xAxis: {
      type: "category",
      data: bars.map((bar) => String(bar.position)),
      name: "position in the chain (lookups before it)",
      nameLocation: "middle",
      nameGap: 22,
      nameTextStyle: { color: theme.dim, fontSize: 11 },
      axisLine: { lineStyle: { color: theme.line } },
      axisTick: { show: false },
      axisLabel: { color: theme.dim, fontSize: 11 },
    },
    yAxis: {
      type: "value",
      name: "packets/s",
      nameTextStyle: { color: theme.dim, fontSize: 11, align: "right", padding: [0, 6, 0, 0] },
      nameGap: 8,
      splitNumber: 3,
      axisLabel: { color: theme.dim, fontSize: 11, formatter: (value: number) => formatNumber(value) },
      splitLine: { lineStyle: { color: theme.line } },
    },
    series: [
      {
        type: "bar",
        barCategoryGap: "18%",
        itemStyle: { color: theme.series[0] },
        data: bars.map((bar) => bar.packets),
        markLine:
          qIndex === undefined || model.q === null
            ? undefined
            : {
                silent: true,
                symbol: "none",
                lineStyle: { color: theme.bad, type: "solid" },
                label: { color: theme.bad, fontSize: 11, formatter: `Q ${formatNumber(model.q)}`, position: "end" },
                data: [{ xAxis: qIndex }],
              },
      },
    ],
  };
}
