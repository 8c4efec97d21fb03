import { screen } from "@testing-library/react";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { Incident, IncidentFinding, Remedy } from "@/lib/api/types";
import { fateText, InhibitedFindings } from "@/shared/remedies/order/InhibitedFindings";
import { STATES } from "@/testing/catalogue";
import { renderPage } from "@/testing/render";
import { parseIncidentFilters, toQuery } from "../filters/filters";
import { InhibitedNote } from "./SuppressionNotes";

const REMEDY = "00000000-0000-4000-8000-000000000070";
const finding = (changes: Partial<Remedy["inhibited"][number]>) =>
  ({ symptom: "S1", inhibited: true, cleared_at: null, ...changes }) as Remedy["inhibited"][number];
const incident = (changes: Partial<Incident>, lead: Partial<IncidentFinding> = {}) =>
  ({
    finding_id: "f",
    inhibited_by: REMEDY,
    active: true,
    findings: [{ finding_id: "f", inhibited_by: REMEDY, ...lead }],
    ...changes,
  }) as Incident;

beforeEach(() => {
  vi.spyOn(globalThis, "fetch").mockImplementation(async (input) => {
    const known = (input as Request).url.endsWith("/remedy-actions")
      ? [{ action: "apply-mask-plan", title: "Apply a mask plan", disturbs: { settle_s: 80 } }]
      : { id: REMEDY, action: "apply-mask-plan", state: "confirmed" };
    return Promise.resolve(new Response(JSON.stringify(known), { headers: { "content-type": "application/json" } }));
  });
});

describe("findings that a remedy caused", () => {
  it("names the remedy, and says when a notification follows", async () => {
    renderPage(<InhibitedNote incident={incident({})} />);
    expect((await screen.findByRole("link", { name: "Apply a mask plan" })).getAttribute("href")).toContain(REMEDY);
    expect(screen.getByRole("note").textContent).toContain(
      "No notification is sent and no rule acts on it, unless it outlasts the remedy by 1 min 20 s.",
    );
  });

  it("says that it has cleared", async () => {
    renderPage(<InhibitedNote incident={incident({ active: false })} />);
    expect((await screen.findByRole("note")).textContent).toContain("It has cleared; no notification was sent.");
  });

  it("says that it has outlasted the remedy once it counts", async () => {
    renderPage(<InhibitedNote incident={incident({ inhibited_by: null })} />);
    expect((await screen.findByRole("note")).textContent).toContain("outlasted it, so it is no longer inhibited");
  });

  it("is empty for an incident that is not inhibited", async () => {
    renderPage(<InhibitedNote incident={incident({ inhibited_by: null }, { inhibited_by: null })} />);
    expect(screen.queryByRole("note")).toBeNull();
  });

  it("is counted at the remedy, with its state", async () => {
    const inhibited = [finding({}), finding({ symptom: "S5", cleared_at: "2026-11-21T03:00:00Z" })];
    renderPage(<InhibitedFindings remedy={{ id: REMEDY, inhibited } as Remedy} />);
    expect((await screen.findByRole("note")).textContent).toBe(
      "∅ 2 findings (S1, S5) started while it or its undo ran and are attributed to it: inhibited, no notification sent. 1 lasts, 1 has cleared.",
    );
  });

  it.each([
    [[finding({})], "1 lasts"],
    [
      [finding({ cleared_at: "2026-11-21T03:00:00Z" }), finding({ cleared_at: "2026-11-21T03:00:00Z" })],
      "2 have cleared",
    ],
    [[finding({}), finding({ inhibited: false })], "1 lasts, 1 outlasted it and was raised"],
  ])("describes %j", (inhibited, text) => {
    expect(fateText(inhibited)).toBe(text);
  });

  it("filters the list by the remedy in the address", () => {
    expect(
      toQuery(parseIncidentFilters({ state: "all", inhibited_by: REMEDY }), undefined, STATES.incident),
    ).toMatchObject({
      inhibited_by: REMEDY,
      state: undefined,
    });
  });
});
