import { describe, expect, it } from "vitest";
import type { BrokenInterval, VfHistory } from "@/lib/api/types";
import { vfOf } from "@/testing/isolation";
import { toEpisodes } from "./episodes";
import { brokenIntervals, hasValues, toCharts } from "./vfModels";

const BASE = Date.parse("2026-11-23T18:00:00Z");
const iso = (second: number) => new Date(BASE + second * 1000).toISOString();
const aggressor = (vf: number, share: number | null) => ({
  ...{ vf, pod: null, tenant: null, share, fair_share: 0.2 },
});
const broken = (second: number, changes: Partial<BrokenInterval> = {}): BrokenInterval => ({
  at: iso(second),
  interval_s: 1,
  estimated: false,
  mechanism: "ingress packet rate",
  reason: `second ${second}`,
  role: "victim",
  aggressors: [aggressor(2, 0.6)],
  victims: [{ vf: 0, pod: null, tenant: null, reason: "" }],
  ...changes,
});

describe("episodes", () => {
  it("join seconds without a pause, newest first", () => {
    const [newest, oldest, ...others] = toEpisodes([broken(101), broken(12), broken(11), broken(10)]);
    expect(others).toEqual([]);
    expect(newest).toMatchObject({ fromMs: BASE + 100_000, toMs: BASE + 101_000, brokenS: 1, reason: "second 101" });
    expect(oldest).toMatchObject({ fromMs: BASE + 9000, toMs: BASE + 12_000, brokenS: 3, reason: "second 12" });
  });

  it("go on over a missing second, but not over a real pause", () => {
    expect(toEpisodes([broken(12), broken(10)])).toHaveLength(1);
    expect(toEpisodes([broken(14), broken(10)])).toHaveLength(2);
  });

  it("keep roles and mechanisms apart, also when they alternate", () => {
    const mixed = [broken(12), broken(12, { role: "aggressor" }), broken(11), broken(11, { role: "aggressor" })];
    expect(toEpisodes(mixed).map(({ role, brokenS }) => [role, brokenS])).toEqual([
      ["victim", 2],
      ["aggressor", 2],
    ]);
    expect(toEpisodes([broken(12, { mechanism: "pcie" }), broken(11)])).toHaveLength(2);
  });

  it("name every aggressor once, with the mean of its known shares, the largest first", () => {
    const [episode] = toEpisodes([
      broken(12, { aggressors: [aggressor(2, 0.4), aggressor(5, 0.5)] }),
      broken(11, { aggressors: [aggressor(2, null)] }),
      broken(10, { aggressors: [aggressor(2, 0.2)] }),
    ]);
    expect(episode?.aggressors.map(({ vf, share }) => [vf, share])).toEqual([
      [5, 0.5],
      [2, 0.30000000000000004],
    ]);
  });

  it("are estimated as soon as one interval is", () => {
    expect(toEpisodes([broken(20, { interval_s: 10, estimated: true }), broken(10)])[0]).toMatchObject({
      estimated: true,
      brokenS: 11,
    });
    expect(toEpisodes([])).toEqual([]);
  });
});

const point = (second: number, changes: Partial<VfHistory["series"][number]> = {}): VfHistory["series"][number] => ({
  at: iso(second),
  tx_mbps: 3000,
  rx_mbps: null,
  tx_mbps_max: null,
  rx_mbps_max: null,
  tx_kpps: null,
  rx_kpps: null,
  delay_p50_us: null,
  delay_p99_us: null,
  dropped: null,
  share: null,
  fair_share: null,
  kept_s: 60,
  broken_s: 0,
  unknown_s: 0,
  not_promised_s: 0,
  aggressor_s: 0,
  ...changes,
});
const history = (changes: Partial<VfHistory> = {}): VfHistory => ({
  ...vfOf(),
  host: "h",
  pci: "p",
  at: null,
  step_s: 60,
  series: [point(0), point(60, { broken_s: 5 }), point(120)],
  broken: [],
  broken_total: 0,
  holders: [],
  ...changes,
});
const FORMATS = { axis: String, tooltip: String, role: (role: string) => role };
const SPAN = { from: iso(0), to: iso(180) };

describe("the charts of a VF", () => {
  it("show rates in Gbit/s with what is guaranteed and what is allowed", () => {
    const { rates } = toCharts(history(), [], SPAN, FORMATS);
    expect(rates.lines.map(({ label, unit, values }) => [label, unit, values[0]])).toEqual([
      ["sends", "Gbit/s", 3],
      ["receives", "Gbit/s", null],
      ["guaranteed", "Gbit/s", 1],
    ]);
    expect(rates.limit).toEqual({ value: 10, label: "at most 10 Gbit/s" });
  });

  it("show a slow VF without a promise in Mbit/s, and no promise", () => {
    const { rates, delay } = toCharts(history({ slo: null, series: [point(0, { tx_mbps: 40 })] }), [], SPAN, FORMATS);
    expect(rates.lines.map(({ label, unit }) => [label, unit])).toEqual([
      ["sends", "Mbit/s"],
      ["receives", "Mbit/s"],
    ]);
    expect(rates.limit).toBeUndefined();
    expect(hasValues(rates)).toBe(true);
    expect(hasValues(delay)).toBe(false);
  });

  it("do not take a promise alone for data", () => {
    expect(hasValues(toCharts(history(), [], SPAN, FORMATS).delay)).toBe(false);
  });

  it("shade episodes, and what is older than the oldest listed one by steps", () => {
    const listed = [broken(150)];
    const all = brokenIntervals(history({ broken: listed, broken_total: 6 }), toEpisodes(listed), (role) => role);
    expect(all).toEqual([
      { symptom: "victim", fromMs: BASE + 60_000, toMs: BASE + 120_000 },
      { symptom: "victim", fromMs: BASE + 149_000, toMs: BASE + 150_000 },
    ]);
    expect(brokenIntervals(history({ broken: listed, broken_total: 1 }), toEpisodes(listed), String)).toHaveLength(1);
  });
});
