import { describe, expect, it } from "vitest";
import type { Rnic, RnicChange } from "@/lib/api/types";
import { toMarks } from "./events";
import { reportText, statusOf } from "./status";
import { parseRnicSearch } from "./tabs";

const NOW = Date.parse("2026-11-21T12:00:00Z");
const names = { symptom: (id: string) => `Name of ${id}`, cause: String, wall: () => "Egress masks" };
const rnic = (changes: Partial<Rnic> = {}) => ({
  headroom: 0.58,
  nearest_wall: "egress_masks",
  symptoms: [],
  seen_at: "2026-11-21T11:59:55Z",
  stale_after_s: 45,
  walls: [],
  tx_gbps: 12,
  rx_gbps: 0,
  ...changes,
});
const symptom = (id: string, incident: string | null = null, until: string | null = null) => ({
  symptom: id,
  since: "2026-11-21T11:48:00Z",
  until,
  severity: "critical",
  incident_id: incident,
});

describe("the sentence about an RNIC", () => {
  it.each([
    ["good", "Healthy; nearest limit: Egress masks at 42% of limit", rnic()],
    ["warn", "Near limit: Egress masks at 95% of limit, no symptoms", rnic({ headroom: 0.05 })],
    ["bad", "Egress masks at 3.4× limit, no symptoms", rnic({ headroom: -2.4 })],
    ["good", "No symptoms; its limits are unknown", rnic({ headroom: null, nearest_wall: null })],
    [
      "warn",
      "Flows are not measured: limits and symptoms S1 to S8 are not judged",
      rnic({ headroom: null, nearest_wall: null, tx_gbps: null, rx_gbps: null }),
    ],
    ["warn", "No telemetry for 4 min", rnic({ seen_at: "2026-11-21T11:56:00Z" })],
    ["warn", "No telemetry received yet", rnic({ seen_at: null })],
  ])("is %s: %s", (tone, text, facts) => {
    expect(statusOf(facts, names, NOW)).toEqual({ tone, text, incident: null });
  });

  it("names the symptom, since when, how many more, and leads to the incident", () => {
    const facts = rnic({
      headroom: -2.4,
      symptoms: [symptom("S6"), symptom("S4", "an-id"), symptom("S1", "x", "then")],
    });
    expect(statusOf(facts, names, NOW)).toEqual({
      tone: "bad",
      text: "Name of S6 for 12 min and 1 more; Egress masks at 3.4× limit",
      incident: "an-id",
    });
  });
});

describe("what NVSentinel says", () => {
  const since = "2026-11-21T11:48:00Z";

  it.each([
    ["cordon", "NVSentinel cordoned the node 12 min ago"],
    ["EthernetStateCheck", "NVSentinel: EthernetStateCheck for 12 min"],
  ])("of %s is: %s", (name, text) => {
    expect(reportText({ name, since, text: "", devices: [] }, NOW)).toBe(text);
  });
});

describe("marks of changes", () => {
  const change = (seconds: number, kind: RnicChange["kind"], text: string, data = {}): RnicChange => ({
    at: new Date(NOW + seconds * 1000).toISOString(),
    kind,
    host: "h",
    pci: "",
    text,
    data,
  });

  it("are one for changes of a kind that lie close together, and kinds stay apart", () => {
    const changes = [
      change(-1, "event", "before the range"),
      change(10, "container", "first"),
      change(11, "remedy", "a remedy"),
      change(12, "container", "second"),
      change(500, "container", "late"),
    ];
    expect(toMarks(changes, NOW, NOW + 900_000).map(({ kind, count, text }) => [kind, count, text])).toEqual([
      ["container", 2, "2 container changes, the last: second"],
      ["remedy", 1, "a remedy"],
      ["container", 1, "late"],
    ]);
  });

  it("lead to the page of the last change, where it has one", () => {
    const changes = [
      change(60, "incident", "opened", { incident_id: "i-1", symptom: "S1" }),
      change(62, "incident", "opened", { incident_id: "i-2", symptom: "S6" }),
      change(200, "remedy", "applied", { remedy_id: "r-1", state: "confirmed" }),
      change(400, "container", "added", { kind: "cni_add" }),
    ];
    expect(toMarks(changes, NOW, NOW + 900_000).map(({ page }) => page)).toEqual([
      { incident: "i-2" },
      { remedy: "r-1" },
      null,
    ]);
  });
});

describe("the page of an RNIC in the URL", () => {
  it.each([
    [{}, {}],
    [{ tab: "overview" }, {}],
    [
      { tab: "flows", range: "1h" },
      { tab: "flows", range: "1h" },
    ],
    [{ fields: "none" }, { fields: "none" }],
    [{ tab: "nowhere", vfUse: "used" }, { vfUse: "used" }],
    [
      { tab: "hardware", fields: "rnic.out_of_buffer,rnic.out_of_buffer,; drop,ovs_datapath.flows" },
      { tab: "hardware", fields: "rnic.out_of_buffer,ovs_datapath.flows" },
    ],
  ])("reads %j as %j", (search, expected) => {
    expect(parseRnicSearch(search)).toEqual(expected);
  });
});
