import { describe, expect, it } from "vitest";
import type { Before } from "@/lib/api/types";
import { linesOf, withShortIds } from "./changes";

type Change = Before["items"][number];

const HERE = { host: "host03", pci: "0000:3b:00.0" };
const ID = "0123456789abcdef0123456789abcdef";
const change = (second: number, changes: Partial<Change> = {}): Change => ({
  at: new Date(Date.parse("2026-11-21T03:00:00Z") + second * 1000).toISOString(),
  kind: "container",
  ...HERE,
  text: `Container ${ID} added.`,
  data: { kind: "cni_add" },
  ...changes,
});

describe("the recent changes", () => {
  it("are one line for the containers that came to one RNIC, with their span", () => {
    const [line, ...others] = linesOf([change(0), change(30), change(90)], HERE);
    expect(others).toEqual([]);
    expect([line?.text, line?.from, line?.to]).toEqual([
      "3 containers added.",
      "2026-11-21T03:00:00.000Z",
      "2026-11-21T03:01:30.000Z",
    ]);
  });

  it("keep what came, what went and other kinds apart, newest first", () => {
    const removed = change(50, { data: { kind: "cni_del" }, text: `Container ${ID} removed.` });
    const setting = change(20, { kind: "setting", pci: "", text: "max-idle changed.", data: {} });
    expect(linesOf([change(10), setting, removed], HERE).map(({ text }) => text)).toEqual([
      "Container 0123456789ab removed.",
      "max-idle changed.",
      "Container 0123456789ab added.",
    ]);
  });

  it("put the incident's own RNIC before others, however late theirs are", () => {
    const elsewhere = change(99, { pci: "0000:86:00.0" });
    expect(linesOf([change(1), elsewhere], HERE).map(({ pci }) => pci)).toEqual(["0000:3b:00.0", "0000:86:00.0"]);
  });

  it("leave shorter numbers and names as they are", () => {
    expect(withShortIds("Pod training-4411 on 0000:3b:00.2, deadbeef")).toBe(
      "Pod training-4411 on 0000:3b:00.2, deadbeef",
    );
  });
});
