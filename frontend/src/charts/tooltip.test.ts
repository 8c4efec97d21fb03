import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { ChartTheme } from "./chartTheme";
import { masksToOption } from "./masks/toOption";
import { residualsToOption } from "./residuals/toOption";
import { sensitivityToOption } from "./sensitivity/toOption";
import { seriesToOption } from "./series/toOption";
import { surfaceToOption } from "./surface/toOption";

const BAD = `<img src=x onerror="alert(1)">'&`;
const theme = { series: ["#a00000", "#00a000"] } as unknown as ChartTheme;

function tip(option: object, item: unknown): string {
  return (option as { tooltip: { formatter: (item: unknown) => string } }).tooltip.formatter(item);
}

const bar = { position: 0, mask: BAD, match: BAD, packets: 1, flows: 1, lengthBits: 1 };
const line = { name: "x", label: BAD, unit: "", values: [1] };
const point = { label: BAD, qL: 1, qR: 1, note: BAD };

const tooltips: Record<string, () => string> = {
  masks: () => tip(masksToOption({ bars: [bar], q: null } as never, theme), [{ dataIndex: 0 }]),
  residuals: () => tip(residualsToOption([], theme), { seriesName: BAD, data: [1, 0.1, BAD] }),
  sensitivity: () =>
    tip(
      sensitivityToOption(
        { parameter: BAD, unit: "", numeric: false, metric: BAD, metricUnit: BAD, points: [], threshold: null },
        theme,
      ),
      { data: { label: BAD, bad: true, value: [0, 1] } },
    ),
  series: () =>
    tip(
      seriesToOption(
        {
          timesMs: [0],
          lines: [line],
          intervals: [],
          fromMs: 0,
          toMs: 1,
          formatTime: String,
          formatTooltipTime: String,
        },
        theme,
      ),
      [{ seriesIndex: 0, marker: "", value: [0, 1] }],
    ),
  surface: () =>
    tip(
      surfaceToOption(
        { qL: [0], qR: [0], values: [[1]], points: [], path: [], asked: null, quantity: "bandwidth" } as never,
        theme,
      ),
      { data: { point } },
    ),
};

describe("a tooltip", () => {
  it.each(Object.entries(tooltips))("of %s shows a hostile name as text", (_, draw) => {
    const text = draw();
    expect(text).toContain("&#60;img src=x");
    expect(text).not.toContain("<img");
  });

  it("is made by tooltipFormatter in every chart", () => {
    const files = readdirSync(import.meta.dirname, { recursive: true, encoding: "utf8" }).filter((name) =>
      name.endsWith("toOption.ts"),
    );
    expect(files.length).toBeGreaterThanOrEqual(Object.keys(tooltips).length);
    for (const name of files) {
      const text = readFileSync(join(import.meta.dirname, name), "utf8");
      const tooltip = text.split(/\btooltip: \{\n/).slice(1);
      for (const body of tooltip) expect(body.split(/\n {4}\},/)[0], name).toMatch(/formatter: tooltipFormatter\(/);
    }
  });
});
