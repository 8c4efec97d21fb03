import { describe, expect, it } from "vitest";
import type { IncidentGroup, IncidentSummary } from "@/lib/api/types";
import { groupedItems, groupTitle, incidentsOf, openGroups } from "./groups";

const group = (value: string, incidents: number): IncidentGroup => ({
  value,
  incidents,
  critical: 0,
  newest: "2026-11-21T03:00:00Z",
});
const rows = (...ids: string[]) => ids.map((id) => ({ id }) as IncidentSummary);
const noChoice = new Map<string, boolean>();

describe("which groups are open", () => {
  it("opens groups as long as their rows are few enough to be read", () => {
    expect(openGroups([group("r1", 60), group("r2", 40), group("r3", 1)], noChoice)).toEqual(["r1", "r2"]);
  });

  it("opens the first one however large it is", () => {
    expect(openGroups([group("r1", 9000), group("r2", 3)], noChoice)).toEqual(["r1"]);
  });

  it("does as the reader chose", () => {
    const choices = new Map([
      ["r1", false],
      ["r3", true],
    ]);
    expect(openGroups([group("r1", 5), group("r2", 200), group("r3", 300)], choices)).toEqual(["r3"]);
  });
});

describe("the lines of a grouped list", () => {
  const lines = groupedItems([group("r1", 3), group("r2", 2), group("r3", 1)], ["r1", "r2"], (value) =>
    value === "r1" ? rows("a", "b") : undefined,
  );

  it("has the loaded rows below their head, and says how many are missing", () => {
    expect(lines.map((line) => (line.kind === "row" ? line.incident.id : `${line.kind} ${line.group.value}`))).toEqual([
      "head r1",
      "a",
      "b",
      "rest r1",
      "head r2",
      "rest r2",
      "head r3",
    ]);
    expect(lines[3]).toMatchObject({ count: 1, loading: false });
    expect(lines[5]).toMatchObject({ count: 2, loading: true });
    expect(lines[6]).toMatchObject({ open: false });
  });

  it("is walked through by its incidents", () => {
    expect(incidentsOf(lines).map(({ id }) => id)).toEqual(["a", "b"]);
  });
});

describe("the title of a group", () => {
  const name = (symptom: string) => (symptom === "S1" ? "Repetitive flow re-offloading" : symptom);

  it.each([
    ["symptom", "S1", "S1 Repetitive flow re-offloading"],
    ["symptom", "silent", "silent"],
    ["host", "host03", "host03"],
    ["host", "", "Several hosts"],
    ["rack", "", "No single rack"],
    ["tenant", "", "No known tenant"],
    ["assignee", "", "Unassigned"],
  ] as const)("by %s of '%s' is '%s'", (by, value, title) => {
    expect(groupTitle(by, value, name)).toBe(title);
  });
});
