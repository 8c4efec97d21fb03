import { screen, within } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";
import { renderPage } from "@/testing/render";
import { serve } from "@/testing/server";
import { FirstHost } from "./FirstHost";

afterEach(() => vi.restoreAllMocks());

const agent = (connected: boolean) => ({ id: "1", host: "host01", connected });

async function current(items: unknown[]): Promise<string> {
  serve({ "GET /agents": { items, next_cursor: null } });
  renderPage(
    <main>
      <FirstHost />
    </main>,
  );
  // Until the agents are known, the page begins with the first step.
  if (items.length > 0) await screen.findByText(/1 agent enrolled/, undefined, { timeout: 20_000 });
  const steps = within(screen.getByRole("list", { name: "Steps to the first RNIC" })).getAllByRole("listitem");
  return steps.find((step) => step.getAttribute("aria-current") === "step")?.textContent ?? "";
}

describe("an empty installation", () => {
  it("begins with a token for the first host", async () => {
    expect(await current([])).toContain("Enrol a host");
    expect(screen.getByRole("link", { name: "Create an enrolment token" })).toBeVisible();
  });

  it("goes on to the programs of an enrolled host", async () => {
    expect(await current([agent(false)])).toContain("Start the agent and the collector");
    expect(screen.getByText(/1 agent enrolled, 0 connected/)).toBeVisible();
    expect(screen.queryByRole("link", { name: "Create an enrolment token" })).not.toBeInTheDocument();
  });

  it("waits for samples once the agent is connected", async () => {
    expect(await current([agent(true)])).toContain("Wait for the first samples");
  });
});
