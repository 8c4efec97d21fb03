import { expect, test } from "vitest";
import type { TimelineEntry } from "@/lib/api/types";
import { openReports, sinceOf } from "./nodeReports";

const entry = (what: string, name: string, text: string): TimelineEntry => ({
  at: "2026-11-21T03:00:00Z",
  kind: "node",
  actor: "nvsentinel",
  text,
  data: { what, report: `host01 ${name} 2026-11-21T02:00:00+00:00` },
});
const comment: TimelineEntry = { at: "2026-11-21T03:00:00Z", kind: "comment", actor: "ann", text: "look", data: {} };

test("what began and has not ended is named, a cordon first", () => {
  const timeline = [
    comment,
    entry("began", "EthernetStateCheck", "port down"),
    entry("began", "GpuMemWatch", "memory"),
    entry("began", "cordon", "cordoned"),
    entry("ended", "GpuMemWatch", "memory ended"),
  ];
  expect(openReports(timeline).map(({ text }) => text)).toEqual(["cordoned", "port down"]);
});

test("what has all ended is not named", () => {
  expect(openReports([entry("began", "cordon", "cordoned"), entry("ended", "cordon", "ended")])).toEqual([]);
  expect(openReports([comment])).toEqual([]);
});

test("it holds since the time that NVSentinel gives, which may be before the incident", () => {
  expect(sinceOf(entry("began", "cordon", "cordoned"))).toBe("2026-11-21T02:00:00+00:00");
});

test("only the first three are named", () => {
  expect(openReports(["a", "b", "c", "d"].map((name) => entry("began", name, name)))).toHaveLength(3);
});
