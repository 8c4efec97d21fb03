import { describe, expect, it } from "vitest";
import { onTheWire, sequenceToOption } from "@/charts/sequence/toOption";
import { formatMs, formatNs } from "@/lib/time/shortTimes";
import {
  formatBytes,
  isPort,
  logShare,
  scopeText,
  sequenceOf,
  uploadUrl,
  verdictOf,
  DEFAULT_OPTIONS,
} from "./captureText";
import { parseCaptureSearch, parseCapturesSearch } from "./search";

const ID = "00000000-0000-4000-8000-000000000001";

describe("the address of a capture", () => {
  it("keeps what it knows and drops the rest", () => {
    expect(parseCaptureSearch({ qp: "3", model: "cx5", incident: ID, other: "x" })).toEqual({
      qp: 3,
      model: "cx5",
      incident: ID,
    });
    expect(parseCaptureSearch({ qp: "-1", model: "../x", incident: "none" })).toEqual({});
    expect(parseCapturesSearch({ incident: ID })).toEqual({ incident: ID });
  });
});

describe("an upload", () => {
  it("names the file and what is special about it", () => {
    expect(uploadUrl("a b.pcap", { ...DEFAULT_OPTIONS, lumina: true, rttUs: 2.5 })).toBe(
      "/api/v1/captures?name=a+b.pcap&roce_port=4791&timeout=14&events=lumina&rtt_us=2.5",
    );
  });

  it.each([
    ["4791", true],
    ["any", true],
    ["0", false],
    ["70000", false],
    ["", false],
  ])("takes the port %s: %s", (text, right) => expect(isPort(text)).toBe(right));
});

describe("words and numbers", () => {
  it.each([
    [0, "0 s"],
    [0.0000021, "2.1 ns"],
    [0.002, "2 µs"],
    [83, "83 ms"],
    [134_200, "134 s"],
  ])("%s ms reads %s", (ms, text) => expect(formatMs(ms)).toBe(text));

  it("shows what is unknown as a dash", () => expect(formatNs(null)).toBe("–"));

  it("says bytes in a unit that suits them", () =>
    expect([12, 12_345, 96_300_000, 1e9].map(formatBytes)).toEqual(["12 B", "12.3 kB", "96.3 MB", "1 GB"]));

  it("says what the verdict is, or how far the analysis", () => {
    const summary = {
      frames: 9,
      roce: 9,
      rc_qps: 2,
      retransmissions: 1,
      timeouts: 0,
      violations: 2,
      bad_icrc_frames: 0,
      conforms: false,
      truncated: false,
    };
    expect(verdictOf({ state: "analysing", progress: 0.414, summary: null }).text).toBe("Analysing, 41%");
    expect(verdictOf({ state: "done", progress: 1, summary })).toEqual({ tone: "bad", text: "2 violations" });
    expect(verdictOf({ state: "done", progress: 1, summary: { ...summary, roce: 0, conforms: true } }).text).toBe(
      "No RoCE packets",
    );
    expect(verdictOf({ state: "failed", progress: 0, summary: null }).tone).toBe("bad");
  });

  it("names every scope that a capture cannot tell apart", () => {
    const point = { notification_point: "x", min_interval_ns: 1, ce_marked: 9, cnps: 2 };
    expect(scopeText({ ...point, mode: "per_port", also_possible: ["per_qp"] })).toBe("per port or per queue pair");
    expect(scopeText({ ...point, mode: null, also_possible: [] })).toBe("undecided");
  });

  it("places latencies on a logarithmic scale from 100 ns to 1 s", () =>
    expect([0, 100, 1e9, 1e12].map(logShare)).toEqual([0, 0, 1, 1]));
});

const theme = {
  ...{ text: "#111", dim: "#222", line: "#333", panel: "#444", shade: "#555", bad: "#666", accent: "#777" },
  series: ["#888", "#999", "#aaa", "#bbb"],
};

describe("the chart of sequence numbers", () => {
  const model = sequenceOf({
    stride: 1,
    points: [
      [0, 0xffffff],
      [1_000_000, 0x1000000],
    ],
    resent: [[2_000_000, 0x1000000, "nack"]],
    losses: [[1_000_000, 0x1000000]],
    nacks: [],
    cnps: [500_000],
  });
  const option = sequenceToOption(model, theme) as unknown as {
    series: { name: string; data: unknown[] }[];
    tooltip: { formatter: (item: unknown) => string };
  };

  it("has a series for each kind of mark", () =>
    expect(option.series.map(({ name, data }) => [name, data.length])).toEqual([
      ["sent", 2],
      ["lost", 1],
      ["NACK", 0],
      ["resent after NACK", 1],
      ["resent by timeout", 0],
      ["CNP", 1],
    ]));

  it("says PSNs as they are on the wire, and times in their unit", () => {
    expect([onTheWire(0x1000000), onTheWire(-1)]).toEqual([0, 0xffffff]);
    expect(option.tooltip.formatter({ seriesName: "sent", value: [1, 0x1000000] })).toContain("PSN 0 at 1 ms");
  });

  it("puts notifications, which name no PSN, at the bottom", () =>
    expect(option.series[5]?.data).toEqual([[0.5, 0xffffff]]));

  it("can be drawn without anything in it", () => {
    const nothing = { points: [], stride: 1, resent: [], losses: [], nacks: [], cnps: [] };
    expect(sequenceToOption(nothing, theme)).toHaveProperty("series");
  });
});
