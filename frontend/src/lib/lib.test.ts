import { describe, expect, it } from "vitest";
import { asProblem, Problem, toProblem } from "./api/problem";
import { formatExpected, formatHeadroom, formatNumber, formatShare, formatValue } from "./format";
import { bandOf } from "./headroom";
import { formatAgo, formatDuration, formatTime } from "./time/format";

describe("numbers", () => {
  it.each([
    [null, "flows", "–"],
    [undefined, "flows", "–"],
    [Number.NaN, "flows", "–"],
    [0, "flows", "0 flows"],
    [7200, "flows", "7,200 flows"],
    [0.4123, "ratio", "41%"],
    [13.204, "s", "13.2 s"],
    [1_234_567, "packets/s", "1.2M packets/s"],
    [62.5, "Gbit/s", "62.5 Gbit/s"],
    [3, "none", "3"],
  ])("shows %s in %s as %s", (value, unit, expected) => {
    expect(formatValue(value, unit)).toBe(expected);
  });

  it.each([
    ["< 0.05", "ratio", "< 5%"],
    [">= 1000", "flows/s", ">= 1,000 flows/s"],
    ["< 10 s", "s", "< 10 s"],
    ["below 9", "us", "below 9 us"],
    ["no reset", "none", "no reset"],
    ["< 10 (max-idle)", "s", "< 10 (max-idle)"],
    [null, "s", "–"],
  ])("gives the bound %s of a signal in %s its unit: %s", (expected, unit, text) => {
    expect(formatExpected(expected, unit)).toBe(text);
  });

  it("distinguishes a very small share from none", () => {
    expect([formatShare(0.0004), formatShare(0), formatShare(0.002)]).toEqual(["< 0.1%", "0%", "0.2%"]);
  });

  it("keeps small numbers readable", () => {
    expect(formatNumber(0.000_123_4)).toBe("0.000123");
  });

  it.each([
    [0.123, "87% of limit"],
    [0.04, "96% of limit"],
    [0.9943, "< 1% of limit"],
    [1, "0% of limit"],
    [0, "100% of limit"],
    [-0.12, "1.12× limit"],
    [null, "limit unknown"],
  ])("says headroom %s as %s", (value, expected) => {
    expect(formatHeadroom(value)).toBe(expected);
  });
});

describe("headroom bands", () => {
  it.each([
    [-0.01, "beyond"],
    [0, "near"],
    [0.0999, "near"],
    [0.1, "high"],
    [0.25, "moderate"],
    [0.5, "low"],
    [1, "low"],
    [null, "unknown"],
    [undefined, "unknown"],
    [Number.NaN, "unknown"],
  ])("%s is %s", (value, band) => {
    expect(bandOf(value)).toBe(band);
  });
});

describe("times", () => {
  it("names UTC when it is shown", () => {
    expect(formatTime("2026-11-21T03:04:05Z", "utc")).toBe("2026-11-21 03:04:05 UTC");
  });

  it("is a dash for what is missing or no time", () => {
    expect([formatTime(null, "utc"), formatTime("soon", "utc")]).toEqual(["–", "–"]);
  });

  it.each([
    [-5, "0 s"],
    [59_000, "59 s"],
    [200_000, "3 min 20 s"],
    [1_200_000, "20 min"],
    [3_600_000, "1 h"],
    [5_400_000, "1 h 30 min"],
    [260_000_000, "3 days"],
  ])("%s ms are %s", (ms, expected) => {
    expect(formatDuration(ms)).toBe(expected);
  });

  it("distinguishes never from now", () => {
    expect([formatAgo(null, 0), formatAgo(1000, 2000), formatAgo(1000, 61_000)]).toEqual(["never", "now", "1 min ago"]);
  });
});

describe("errors of the API", () => {
  it("keeps code, detail and the fields at fault", () => {
    const problem = toProblem(422, {
      title: "Not valid",
      code: "invalid_input",
      detail: "See errors",
      errors: [{ loc: ["body", "name"], msg: "too long" }],
    });
    expect([problem.code, problem.title, problem.message]).toEqual(["invalid_input", "Not valid", "See errors"]);
    expect(problem.fields).toEqual([{ where: "name", message: "too long" }]);
  });

  it("makes something readable of an answer that is no problem document", () => {
    expect(toProblem(502, "<html>bad gateway</html>").code).toBe("http_502");
    expect(toProblem(500, undefined).message).toContain("500");
  });

  it("passes a Problem on and wraps anything else", () => {
    const problem = new Problem(404, "not_found", "t", "d");
    expect(asProblem(problem)).toBe(problem);
    expect(asProblem("boom").message).toBe("boom");
  });
});
