import { expect, test } from "vitest";
import type { TimelineEntry } from "@/lib/api/types";
import { foldFlapping } from "./flapping";

const TEXTS: Record<string, string> = { symptom: "S5 on host03 recurred.", updated: "Severity changed." };
const entries = (kinds: string): TimelineEntry[] =>
  kinds.split(" ").map((kind, i) => ({
    at: `2026-11-21T03:00:0${i}Z`,
    kind,
    actor: "classify",
    text: TEXTS[kind] ?? kind,
    data: {},
  }));
const shapeOf = (kinds: string) =>
  foldFlapping(entries(kinds)).map((line) => (line.folded ? `[${line.text}]` : line.entry.kind));

test("a symptom that comes and goes is one line that names it", () => {
  expect(shapeOf("cleared symptom cleared symptom updated opened")).toEqual([
    "[S5 came and went, 5 entries]",
    "opened",
  ]);
});

test("a few entries, and what people or remedies did, stay as they are", () => {
  expect(shapeOf("cleared symptom opened")).toEqual(["cleared", "symptom", "opened"]);
  expect(shapeOf("cleared symptom comment cleared symptom remedy opened")).toEqual([
    "cleared",
    "symptom",
    "comment",
    "cleared",
    "symptom",
    "remedy",
    "opened",
  ]);
});

test("no entry is lost", () => {
  const all = entries("cleared symptom updated cleared comment symptom cleared");
  expect(foldFlapping(all).flatMap((line) => (line.folded ? line.entries : [line.entry]))).toEqual(all);
});
