import { MantineProvider } from "@mantine/core";
import { render, screen } from "@testing-library/react";
import type { ReactNode } from "react";
import { describe, expect, it, vi } from "vitest";
import type { Control, RemedyAction } from "@/lib/api/types";
import { parseRolloutSearch } from "./search";
import { TargetPicker } from "./TargetPicker";
import { DEFAULT_PACE, windowProblem } from "./WaveFields";
import { WhatWillHappen } from "./WhatWillHappen";

const action: RemedyAction = {
  action: "tune-revalidator",
  title: "Tune the revalidator",
  description: "Sets the idle time.",
  scope: "host",
  at_least_one: [],
  risk: "low",
  risk_text: "Dead flows stay longer.",
  needs_approval: false,
  undo: "",
  reversible: true,
  operations: "",
  privileges: "",
  symptoms: [],
  disturbs: null,
  params: [],
  change: {
    signal: "in_force",
    label: "Active",
    unit: "none",
    expected: "= 1",
    within_s: 30,
    for_s: 0,
    text: "The agent has read the setting back.",
  },
  cures: [
    {
      symptom: "S1",
      signal: "reoffload_ratio",
      label: "Re-offload ratio",
      unit: "ratio",
      expected: "< 0.05",
      within_s: 180,
      for_s: 20,
      text: "Flows stop coming back.",
    },
  ],
};
const control: Control = {
  stop: null,
  busy: { hosts: 0, racks: 0, fleet: 9, most_hosts: 3, most_racks: 2 },
  breakers: [],
  approval_above_hosts: 3,
  awaiting_approval: 0,
};
const targets = ["h1", "h2", "h3", "h4"].map((host) => ({ host, pci: null, rack: "r1" }));
const show = (children: ReactNode) => render(<MantineProvider env="test">{children}</MantineProvider>);

describe("a rollout in plain words", () => {
  const words = (proposes: boolean, undoOnStop: boolean, stop: Control["stop"] = null) => {
    show(
      <WhatWillHappen
        action={action}
        targets={targets}
        canary={1}
        growth={3}
        undoOnStop={undoOnStop}
        control={{ ...control, stop }}
        proposes={proposes}
      />,
    );
    return screen.getByRole("group", { name: "What will happen" });
  };

  it("names action, targets, waves, benefit, risk, progression and stop conditions", () => {
    const text = words(false, true);
    expect(text).toHaveTextContent("Tune the revalidator on 4 hosts in rack r1: first h1 alone, then 3.");
    expect(text).toHaveTextContent("Benefit: Flows stop coming back.");
    expect(text).toHaveTextContent("Risk: Dead flows stay longer.");
    expect(text).toHaveTextContent("at most 3 min each); at most 3 hosts at once");
    expect(text).toHaveTextContent("then rolls back");
    expect(text).not.toHaveTextContent("approval");
  });

  it("says that it needs a second person, or the end of an emergency stop", () => {
    const text = words(true, false, { at: "2026-11-21T03:00:00Z", by: "dana", reason: "power work" });
    expect(text).toHaveTextContent("a second person must approve first: it targets more than 3 hosts");
    expect(text).toHaveTextContent("applied changes stay");
    expect(screen.getByRole("alert")).toHaveTextContent("dana has stopped all remedies (power work)");
  });
});

it("hosts without an agent are skipped, disconnected ones are waited for", () => {
  const agents = new Map([
    ["h1", true],
    ["h2", false],
    ["h3", true],
  ]);
  show(
    <TargetPicker
      all={targets}
      kept={targets.slice(0, 3)}
      left={new Set()}
      agents={agents}
      filtered
      onLeave={vi.fn()}
      onFirst={vi.fn()}
    />,
  );
  expect(screen.getByRole("status")).toHaveTextContent("3 of 4 targets selected; 1 skipped without an agent.");
  expect(screen.getByLabelText("Select h4")).toBeDisabled();
  expect(screen.getByLabelText("Select h2")).toBeChecked();
  expect(screen.getByText("not connected: waits for it")).toBeInTheDocument();
  expect(screen.queryByLabelText("Start with h1")).not.toBeInTheDocument();
});

it("goes nowhere without a filter", () => {
  show(
    <TargetPicker
      all={[]}
      kept={[]}
      left={new Set()}
      agents={undefined}
      filtered={false}
      onLeave={vi.fn()}
      onFirst={vi.fn()}
    />,
  );
  expect(screen.getByText("Select targets")).toBeInTheDocument();
});

it.each([
  [{}, null],
  [{ notBefore: "2026-11-22T01:00", notAfter: "2026-11-22T03:00" }, null],
  [{ notBefore: "2026-11-22T03:00", notAfter: "2026-11-22T01:00" }, "End must be after start and in the future"],
  [{ notAfter: "2026-11-20T01:00" }, "End must be after start and in the future"],
  [{ notBefore: "soon" }, "Invalid start time"],
])("a window of %j", (changes, problem) => {
  expect(windowProblem({ ...DEFAULT_PACE, ...changes }, "utc", Date.parse("2026-11-21T00:00:00Z"))).toBe(problem);
});

it("a link keeps filters, action and incident, and drops what can't be one", () => {
  const incident = "00000000-0000-4000-8000-000000000011";
  expect(parseRolloutSearch({ rack: "r1,r2", action: "tune-revalidator", incident })).toEqual({
    rack: "r1,r2",
    action: "tune-revalidator",
    incident,
  });
  expect(parseRolloutSearch({ host: "h1", action: "rm -rf", incident: "11" })).toEqual({ host: "h1" });
});
