import { describe, expect, it } from "vitest";
import type { Incident } from "@/lib/api/types";
import { evidenceLine } from "../evidence/evidenceText";
import { toTicket } from "./ticket";

describe("the ticket text", () => {
  const evidence = {
    signal: "reoffload_ratio",
    label: "Re-offload ratio",
    unit: "ratio",
    from: null,
    to: null,
    value: 0.41,
    expected: "< 0.05",
    text: "",
  };
  const incident = {
    id: "1",
    host: "host03",
    pci: "0000:3b:00.0",
    rack: "r2",
    symptom: "S1",
    symptoms: ["S1", "S5"],
    subject: "host03 0000:3b:00.0",
    hosts: ["host03"],
    model: "CX-6",
    fw_ver: "22.36.1010",
    cleared_at: null,
    explanation: "",
    state: "open",
    severity: "critical",
    blast_radius: "flows",
    title: "Flows come back",
    summary: "41% of flows.",
    opened_at: "2026-11-21T03:00:00Z",
    active: true,
    evidence: [evidence],
    hypotheses: [
      {
        cause: "C5",
        title: "Stale counters",
        prior: 0.15,
        posterior: 0.7,
        evidence_for: [],
        evidence_against: [],
        next_test: "Raise max-idle",
      },
    ],
    remedies: [
      {
        action: "tune-revalidator",
        params: { max_idle_ms: 60000 },
        why: "keeps live flows",
        derivations: { max_idle_ms: "longest counter gap 30 s x 2" },
      },
    ],
    timeline: [
      { at: "2026-11-21T03:00:00Z", kind: "opened", actor: "wallwatch", text: "41% of flows.", data: {} },
      { at: "2026-11-21T03:05:00Z", kind: "comment", actor: "dana", text: "not for the ticket", data: {} },
      { at: "2026-11-21T03:40:00Z", kind: "remedy", actor: "wallwatch", text: "S1 cleared.", data: {} },
    ],
  } as unknown as Incident;

  it("holds what, where, since when in UTC, why, and what to do", () => {
    const text = toTicket(incident, "https://wallwatch.example.org/incidents/1");
    for (const part of [
      "[critical] S1, S5 on host03 0000:3b:00.0",
      "rack r2, CX-6, firmware 22.36.1010",
      "2026-11-21 03:00:00 UTC",
      "C5 Stale counters (70%); next test: Raise max-idle",
      "Re-offload ratio 41%, expected < 5%",
      "Since:  2026-11-21 03:00:00 UTC",
      "tune-revalidator (max idle ms 60,000; longest counter gap 30 s x 2): keeps live flows",
      "- 2026-11-21 03:40:00 UTC wallwatch: S1 cleared.",
      "https://wallwatch.example.org/incidents/1",
    ])
      expect(text).toContain(part);
  });

  it("spans the whole life of an incident that ended, and leaves comments out", () => {
    const ended = { ...incident, active: false, cleared_at: "2026-11-21T03:44:00Z" };
    const text = toTicket(ended, "");
    expect(text).toContain("From:   2026-11-21 03:00:00 UTC to 2026-11-21 03:44:00 UTC (44 min)");
    expect(text).not.toContain("not for the ticket");
  });

  it("names the test of a cause apart from what is expected of a healthy RNIC", () => {
    expect(evidenceLine({ ...evidence, value: 0, expected: null, test: "<= 0.1" })).toBe(
      "Re-offload ratio 0%, supports it at <= 10%",
    );
  });

  it("says that a value is missing rather than zero", () => {
    expect(evidenceLine({ ...evidence, value: null })).toBe("Re-offload ratio –, expected < 5%");
  });
});
