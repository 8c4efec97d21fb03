import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it } from "vitest";
import type { Automaton, PolicyViolation } from "@/lib/api/types";
import { renderPage } from "@/testing/render";
import { TraceStepper } from "./TraceStepper";

const AUTOMATON: Automaton = {
  states: [
    { id: 0, verdict: "?", retired: false },
    { id: 1, verdict: "?", retired: false },
    { id: 2, verdict: "F", retired: false },
  ],
  edges: [
    { source: 0, target: 1, guard: "LOST" },
    { source: 1, target: 2, guard: "LATE" },
  ],
};

const VIOLATION = {
  host: "host01",
  start: 0,
  cut: false,
  trace: [
    {
      at: "2026-11-21T12:00:00.250Z",
      host: null,
      kinds: ["pcie_link_down"],
      propositions: ["LOST"],
      text: "PCIe link down",
      state: 1,
      verdict: "?",
    },
    {
      at: "2026-11-21T12:01:00Z",
      host: "host02",
      kinds: ["port_down"],
      propositions: [],
      text: "Port down",
      state: 1,
      verdict: "?",
    },
    {
      at: "2026-11-21T12:02:00Z",
      host: null,
      kinds: ["timer"],
      propositions: ["LATE"],
      text: "120 s after LOST",
      state: 2,
      verdict: "F",
    },
  ],
} as Pick<PolicyViolation, "trace" | "start" | "cut" | "host">;

const status = () => screen.getAllByRole("status")[0]?.textContent;

describe("a violation", () => {
  it("begins at its end and is stepped through by keyboard", async () => {
    renderPage(<TraceStepper automaton={AUTOMATON} violation={VIOLATION} />);
    expect(status()).toBe("Step 3 of 3: 120 s after LOST → state 2, violated");
    expect(screen.getByRole("img")).toHaveAccessibleName("Automaton with 3 states, now in state 2: violated");
    screen.getByRole("group", { name: "Trace, step by step" }).focus();
    await userEvent.keyboard("{Home}");
    expect(status()).toBe("Before the first step: state 0");
    await userEvent.keyboard("{ArrowRight}");
    expect(status()).toBe("Step 1 of 3: PCIe link down → state 1, open");
    await userEvent.keyboard("{End}{ArrowLeft}");
    expect(status()).toBe("Step 2 of 3: Port down → state 1, open");
  });

  it("shows each event's time, its host, and whether it belongs to the policy", () => {
    renderPage(<TraceStepper automaton={AUTOMATON} violation={VIOLATION} />);
    const steps = within(screen.getByRole("list", { name: "Steps" })).getAllByRole("listitem");
    expect(steps[0]).toHaveTextContent(/\.250PCIe link down LOST$/);
    expect(steps[1]).toHaveTextContent(/Port down on host02 \(not part of this policy\)$/);
  });

  it("of a policy that is unknown any more shows its steps without an automaton", () => {
    renderPage(
      <TraceStepper
        automaton={null}
        violation={{
          ...VIOLATION,
          trace: VIOLATION.trace.map((step) => ({ ...step, state: null, verdict: null })),
          start: null,
          cut: true,
        }}
      />,
    );
    expect(screen.queryByRole("img")).toBeNull();
    expect(status()).toBe("Step 3 of 3: 120 s after LOST → state unknown");
    expect(screen.getByText("Earlier steps of this subject are not stored.")).toBeVisible();
  });

  it("without steps says so", () => {
    renderPage(<TraceStepper automaton={AUTOMATON} violation={{ ...VIOLATION, trace: [] }} />);
    expect(screen.getByText("The host reported no steps.")).toBeVisible();
  });
});
