import { describe, expect, it } from "vitest";
import type { IncidentSummary } from "@/lib/api/types";
import { matchersText } from "@/shared/matchers/matchers";
import { parseSilenceFilters } from "./filters";
import { matchersFor, quoted } from "./fromIncidents";
import { fromField, toField } from "@/lib/time/fields";

const incident = (changes: Partial<IncidentSummary>) =>
  ({
    host: "host01",
    hosts: ["host01"],
    pci: "0000:3b:00.0",
    rack: "r1",
    symptoms: ["S1"],
    scope: "rnic",
    fw_ver: "22.36.1010",
    ...changes,
  }) as IncidentSummary;

describe("matchers proposed for incidents", () => {
  it("are one RNIC's for one RNIC", () => {
    expect(matchersText(matchersFor([incident({})]))).toBe(
      "symptom is S1, host is host01, PCI address is 0000:3b:00.0",
    );
  });

  it("name every symptom of an incident, so that none goes on notifying", () => {
    expect(matchersFor([incident({ symptoms: ["S1", "S4", "S5"] })])[0]).toEqual({
      name: "symptom",
      op: "=~",
      value: "S1|S4|S5",
    });
  });

  it("name all hosts of several, each as itself and nothing else", () => {
    const matchers = matchersFor([incident({}), incident({ host: "host1.x", hosts: ["host1.x"], symptoms: ["S6"] })]);
    expect(matchers).toEqual([
      { name: "symptom", op: "=~", value: "S1|S6" },
      { name: "host", op: "=~", value: "host01|host1\\.x" },
    ]);
    expect(new RegExp(`^(${quoted("a+b(c)")})$`).test("a+b(c)")).toBe(true);
  });

  it("name the firmware of an incident of the fleet and the rack of a rack's", () => {
    expect(matchersText(matchersFor([incident({ scope: "fleet" })]))).toBe("symptom is S1, firmware is 22.36.1010");
    expect(matchersText(matchersFor([incident({ scope: "rack" })]))).toBe("symptom is S1, rack is r1");
  });

  it("leave the PCI address out for a host's incident, which names none", () => {
    expect(matchersText(matchersFor([incident({ scope: "host", pci: "", symptoms: ["silent"] })]))).toBe(
      "symptom is silent, host is host01",
    );
    expect(matchersText([])).toBe("everything");
  });
});

describe("the times of a silence", () => {
  it("go into a field and come back, in the zone that is shown", () => {
    const at = Date.parse("2026-11-21T03:40:00Z");
    expect(toField(at, "utc")).toBe("2026-11-21T03:40");
    for (const zone of ["utc", "local"] as const) expect(fromField(toField(at, zone), zone)).toBe(at);
    expect([fromField("", "utc"), fromField("soon", "local")]).toEqual([null, null]);
  });

  it("are chosen by state in the URL", () => {
    expect([parseSilenceFilters({ state: "pending" }), parseSilenceFilters({ state: "old" })]).toEqual([
      { state: "pending" },
      {},
    ]);
  });
});
