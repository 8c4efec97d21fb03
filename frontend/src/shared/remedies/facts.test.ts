import { describe, expect, it } from "vitest";
import type { EffectSeries, Remedy } from "@/lib/api/types";
import { toEffectModel } from "./effectModel";
import { changeText, effectText, factsOf } from "./facts";

const NOW = Date.parse("2026-11-21T03:00:00Z");
const clock = (at: string) => at.slice(11, 19);
const change: NonNullable<Remedy["change"]> = {
  signal: "cordoned",
  label: "Cordoned",
  unit: "none",
  expected: "= 1",
  for_s: 0,
  measured: 1,
  measured_at: "2026-11-21T02:59:30Z",
  confirmed_at: "2026-11-21T02:59:30Z",
  deadline: "2026-11-21T03:00:00Z",
};
const effect: NonNullable<Remedy["effect"]> = {
  ...change,
  signal: "software_packets_per_s",
  label: "Software packets",
  unit: "packets/s",
  expected: "< 50",
  for_s: 45,
  symptom: "S5",
  before: 900,
  measured: 3,
  confirmed_at: null,
  deadline: "2026-11-21T03:02:00Z",
};
const present = { symptom: "S5", title: "Intermittent software forwarding", present: true, cleared_at: null };
const cleared = { ...present, present: false, cleared_at: "2026-11-21T02:59:50Z" };

describe("the facts of a remedy", () => {
  const words = (known: Parameters<typeof factsOf>[0]) =>
    factsOf(known, NOW, clock).map(({ title, tone, text }) => `${title} | ${tone} | ${text}`);

  it("never let a cordon's flag speak for the symptom", () => {
    expect(words({ state: "change_confirmed", change, effect: null, symptom: present })).toEqual([
      "Change confirmed | good | at 02:59:30",
      "Symptom S5 cleared | bad | no, it is present",
    ]);
  });

  it("count down until the symptom must have cleared", () => {
    expect(words({ state: "verifying", change, effect, symptom: present })[1]).toBe(
      "Symptom S5 cleared | waiting | waiting 2:00",
    );
    expect(words({ state: "confirmed", change, effect, symptom: cleared })[1]).toBe(
      "Symptom S5 cleared | good | at 02:59:50",
    );
  });

  it("show the signal alone for a remedy without an incident, and nothing before it is applied", () => {
    expect(words({ state: "verifying", change, effect, symptom: null })[1]).toBe(
      "Effect confirmed | waiting | waiting 2:00",
    );
    expect(words({ state: "not_confirmed", change, effect, symptom: null })[1]).toBe("Effect confirmed | bad | no");
    expect(words({ state: "running", change: null, effect: null, symptom: null })).toEqual([]);
  });

  it("have their values, before and after", () => {
    expect([1, 0, null].map((measured) => changeText({ ...change, measured }))).toEqual([
      "Cordoned: yes",
      "Cordoned: no",
      "Cordoned: –",
    ]);
    expect(changeText({ ...change, label: "Limit", unit: "Mbit/s", expected: "= 2500", measured: 0 })).toBe(
      "Limit 0 Mbit/s, expected = 2,500 Mbit/s",
    );
    expect(effectText(effect)).toBe(
      "Software packets 3 packets/s, before 900 packets/s, expected < 50 packets/s for 45 s",
    );
  });
});

describe("the chart of an effect", () => {
  const series: EffectSeries = {
    symptom: "S5",
    signal: "software_packets_per_s",
    label: "Software packets",
    unit: "packets/s",
    expected: "< 50",
    bound: 50,
    applied_at: "2026-11-21T03:00:00Z",
    samples: [
      { at: "2026-11-21T02:59:00Z", value: 900 },
      { at: "2026-11-21T03:01:00Z", value: 3 },
    ],
  };
  const formats = { axis: String, tooltip: String };

  it("marks the moment of applying and the bound with its unit", () => {
    const model = toEffectModel(series, formats);
    expect(model?.mark).toEqual({ atMs: NOW, label: "applied" });
    expect(model?.limit).toEqual({ value: 50, label: "expected < 50 packets/s", always: true });
    expect(model?.lines[0]?.values).toEqual([900, 3]);
    const early = toEffectModel(
      { ...series, samples: series.samples.map((each) => ({ ...each, at: "2026-11-21T02:50:00Z" })) },
      formats,
    );
    expect(early?.toMs, "there is room for what comes").toBe(NOW + 180_000);
  });

  it("is not drawn from one sample", () => {
    expect(toEffectModel({ ...series, samples: series.samples.slice(0, 1) }, formats)).toBeNull();
  });
});
