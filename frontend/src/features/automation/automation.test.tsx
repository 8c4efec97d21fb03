import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { CATALOGUE } from "@/testing/catalogue";
import { renderPage } from "@/testing/render";
import { AutomationPanel } from "./AutomationPanel";
import { choosesSymptoms, matchersText, whereText, windowText } from "./ruleText";

const ID = "00000000-0000-4000-8000-000000000031";
const RULE = {
  id: ID,
  name: "late counters",
  action: "tune-revalidator",
  params: { max_idle_ms: 60000 },
  trigger: "finding",
  matchers: [{ name: "symptom", op: "=", value: "S1" }],
  enabled: false,
  window_from: "22:00",
  window_to: "05:00",
  cooldown_s: 3600,
  created_by: "admin",
  created_at: "2026-11-21T03:00:00Z",
  updated_at: "2026-11-21T03:00:00Z",
  enabled_by: null,
  enabled_at: null,
  needs_approval: false,
  open_runs: 1,
};
const RUN = {
  id: "00000000-0000-4000-8000-000000000032",
  finding_id: ID,
  incident_id: ID,
  host: "host01",
  pci: "",
  state: "waiting",
  message: "1 is the most",
  dry_run_id: ID,
  remedy_id: null,
  plan_id: null,
  steps: [
    {
      at: "2026-11-21T03:00:01Z",
      state: "waiting",
      text: "The dry run has nothing against it.",
      plan_id: null,
      remedy_id: null,
    },
  ],
  created_at: "2026-11-21T03:00:00Z",
  updated_at: "2026-11-21T03:00:00Z",
  ended_at: null,
};
let rules: unknown[] = [RULE];
const sent: string[] = [];

beforeEach(() => {
  rules = [RULE];
  sent.length = 0;
  vi.spyOn(globalThis, "fetch").mockImplementation((input) => {
    const request = input as Request;
    const path = new URL(request.url).pathname;
    if (request.method !== "GET") sent.push(`${request.method} ${path}`);
    if (path.endsWith("/catalogue")) return Promise.resolve(Response.json(CATALOGUE));
    if (path.endsWith("/runs")) return Promise.resolve(Response.json({ items: [RUN], next_cursor: null }));
    if (path.endsWith("/automation-rules")) return Promise.resolve(Response.json(rules));
    return Promise.resolve(Response.json(path.endsWith("/remedy-actions") ? [] : RULE));
  });
});
afterEach(() => vi.restoreAllMocks());

describe("automation", () => {
  it("shows what a rule does, and enables it after a question that says so", async () => {
    renderPage(<AutomationPanel />);
    expect(await screen.findByText("late counters")).toBeInTheDocument();
    expect(screen.getByText(/from 22:00 to 05:00 UTC · created by admin/)).toBeInTheDocument();
    await userEvent.click(screen.getByRole("button", { name: "Enable" }));
    expect(
      await screen.findByText(/wherever symptom = S1, Wallwatch runs a dry run and then applies the remedy/),
    ).toBeInTheDocument();
    expect(sent).toEqual([]);
    await userEvent.click(within(screen.getByRole("dialog")).getByRole("button", { name: "Enable" }));
    expect(sent).toEqual([`POST /api/v1/automation-rules/${ID}/enable`]);
  });

  it("shows how its runs go", async () => {
    renderPage(<AutomationPanel />);
    await userEvent.click(await screen.findByRole("button", { name: "Runs (1 now)" }));
    expect(await screen.findByRole("list", { name: "Runs of late counters" })).toHaveTextContent(
      /Waiting.*host01.*1 is the most.*The dry run has nothing against it/,
    );
  });

  it("says that automation is off while there is no rule", async () => {
    rules = [];
    renderPage(<AutomationPanel />);
    expect(await screen.findByText("Automation is off: every remedy needs an operator")).toBeInTheDocument();
  });
});

describe("a rule in words", () => {
  it("names its conditions and its window", () => {
    expect(
      matchersText([
        { name: "symptom", op: "=", value: "S1" },
        { name: "rack", op: "=~", value: "r[12]" },
      ]),
    ).toBe("symptom = S1 and rack =~ r[12]");
    expect(whereText({ trigger: "decline", matchers: [{ name: "rack", op: "=", value: "r1" }] })).toBe(
      "a decline of bandwidth is predicted and rack = r1",
    );
    expect(windowText({ window_from: null, window_to: null })).toBe("at any time");
  });

  it("has to choose symptoms or causes", () => {
    expect(
      choosesSymptoms([
        { name: "symptom", op: "!=", value: "S1" },
        { name: "host", op: "=", value: "h" },
      ]),
    ).toBe(false);
    expect(choosesSymptoms([{ name: "cause", op: "=", value: "C5" }])).toBe(true);
  });
});
