import { screen } from "@testing-library/react";
import { expect, test } from "vitest";
import type { Catalogue, Incident, Remedy } from "@/lib/api/types";
import { CATALOGUE } from "@/testing/catalogue";
import { renderPage } from "@/testing/render";
import { serve } from "@/testing/server";
import { FixPanel } from "./FixPanel";

const ACTIONS = ["tune-revalidator", "cordon-rnic"].map((action) => ({
  action,
  title: `Title of ${action}`,
  params: [],
  risk: "low",
}));
const INCIDENT = {
  id: "i1",
  host: "host03",
  pci: "0000:3b:00.0",
  hosts: ["host03"],
  active: true,
  remedies: ACTIONS.map(({ action }) => ({ action, params: {}, derivations: {}, why: `Why ${action}`, newest: null })),
} as unknown as Incident;

function show(state?: Remedy["state"], incident = INCIDENT, catalogue = CATALOGUE) {
  const remedy = {
    id: "r1",
    action: "tune-revalidator",
    mode: "apply",
    state,
    params: {},
    change: null,
    effect: null,
    symptom: null,
    undo_state: null,
    rollout_id: null,
    created_at: "2026-11-21T03:00:00Z",
    requested_by: "dana",
  };
  serve({
    "GET /remedy-actions": ACTIONS,
    "GET /remedies": { items: state ? [remedy] : [], next_cursor: null },
    "GET /remedies/r1": remedy,
  });
  renderPage(<FixPanel incident={incident} planControl={() => null} />, catalogue);
}

const primary = () => screen.queryAllByRole("button", { name: /^Review and apply: / }).map((each) => each.ariaLabel);

test("exactly one remedy is the primary action, with its risk", async () => {
  show();
  expect(await screen.findByRole("button", { name: "Review and apply: Title of tune-revalidator" })).toBeVisible();
  expect(primary()).toHaveLength(1);
  expect(screen.getByRole("button", { name: "Review Title of cordon-rnic" })).toBeVisible();
  expect(screen.getAllByText("Risk: low")).toHaveLength(2);
});

test("while a remedy works nothing is put before it", async () => {
  show("verifying");
  expect(await screen.findByRole("group", { name: "Applied remedy" })).toHaveTextContent("Title of tune-revalidator");
  expect(await screen.findByRole("button", { name: "Review Title of tune-revalidator" })).toBeVisible();
  expect(primary()).toEqual([]);
});

test("once the symptom is gone no remedy is urgent", async () => {
  show(undefined, { ...INCIDENT, active: false });
  expect(await screen.findByRole("button", { name: "Review Title of tune-revalidator" })).toBeVisible();
  expect(primary()).toEqual([]);
});

test("after one that did not help, the next thing to do is put first again", async () => {
  show("not_confirmed");
  expect(await screen.findByRole("group", { name: "Applied remedy" })).toBeVisible();
  expect(primary()).toHaveLength(1);
});

test("a behaviour of the RNIC itself has advice and a ticket for its vendor instead of a remedy", async () => {
  const b4 = {
    ...CATALOGUE.symptoms[0],
    id: "B4",
    behaviour: {
      seen_in: "telemetry",
      known_on: [],
      applies_to: [],
      advice: "Trust the senders.",
      ticket: "np_cnp_sent",
    },
  } as Catalogue["symptoms"][number];
  show(undefined, { ...INCIDENT, symptom: "B4", remedies: [] }, { ...CATALOGUE, symptoms: [b4] });
  expect(await screen.findByText("Trust the senders.")).toBeVisible();
  expect(screen.getByRole("button", { name: "Copy ticket for the vendor" })).toBeVisible();
  expect(primary()).toEqual([]);
});
