import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it } from "vitest";
import { CAUSE, RULE } from "@/testing/lab";
import { renderPage } from "@/testing/render";
import { problem, serve, signedIn } from "@/testing/server";
import { CauseRule } from "./CauseRule";
import { RulesPanel } from "./RulesPanel";

const page = (items: unknown[]) => ({ items, next_cursor: null });
const CAMPAIGN = "00000000-0000-4000-8000-000000000801";
const NEW = { ...CAUSE, recognised: null, no_rule: null, rule: "rules: []\n" };
const rules = (items: unknown[], role: "viewer" | "operator" = "operator", more = {}) =>
  serve({ "GET /session": signedIn(role), "GET /lab/rules": page(items), ...more });

describe("candidate rules", () => {
  it("say where they come from, what they do not check, and show their text on request", async () => {
    rules([RULE]);
    renderPage(<RulesPanel />);
    const row = await screen.findByTestId("lab-rule");
    expect(row).toHaveTextContent("L1/1 · on CX-6");
    expect(row).toHaveTextContent("Wider than the cause: it does not check jumbo is on.");
    expect(row).toHaveTextContent("Waits for review");
    expect(screen.queryByText("export as YAML")).not.toBeInTheDocument();
    await userEvent.click(screen.getByRole("button", { name: "Show rule L1/1" }));
    expect(screen.getByText(/^rules:/)).toBeInTheDocument();
  });

  it.each([
    ["Accept", "accept"],
    ["Reject", "reject"],
  ])("take %s with a reason", async (button, path) => {
    const asked = rules([RULE], "operator", { [`POST /lab/rules/${RULE.id}/${path}`]: RULE });
    renderPage(<RulesPanel />);
    await userEvent.click(await screen.findByRole("button", { name: `${button} rule L1/1` }));
    const dialog = await screen.findByRole("dialog");
    expect(within(dialog).getByRole("button", { name: button })).toBeDisabled();
    await userEvent.type(within(dialog).getByLabelText(/Reason/), "seen twice");
    await userEvent.click(within(dialog).getByRole("button", { name: button }));
    const sent = asked.find(({ method }) => method === "POST");
    expect([sent?.path, sent?.body]).toEqual([`/lab/rules/${RULE.id}/${path}`, { comment: "seen twice" }]);
  });

  it("can be exported once one is accepted, and rejected again", async () => {
    rules([{ ...RULE, state: "accepted", decided_by: "dana", comment: "fine", problem: "there is no signal x" }]);
    renderPage(<RulesPanel />);
    expect(await screen.findByText("export as YAML")).toHaveAttribute("href", "/api/v1/lab/rules/export");
    expect(screen.getByText("Not used: there is no signal x")).toBeInTheDocument();
    expect(await screen.findByRole("button", { name: "Reject rule L1/1" })).toBeInTheDocument();
    expect(screen.queryByRole("button", { name: "Accept rule L1/1" })).not.toBeInTheDocument();
  });

  it("have no review for a viewer, an empty state and an error", async () => {
    rules([RULE], "viewer");
    const { unmount } = renderPage(<RulesPanel />);
    expect(await screen.findByTestId("lab-rule")).toBeInTheDocument();
    expect(screen.queryByRole("button", { name: "Accept rule L1/1" })).not.toBeInTheDocument();
    unmount();
    rules([]);
    const empty = renderPage(<RulesPanel />);
    expect(await screen.findByText("No candidate rules")).toBeInTheDocument();
    empty.unmount();
    serve({
      "GET /session": signedIn("viewer"),
      "GET /lab/rules": problem(503, "database_unavailable", "No database"),
    });
    renderPage(<RulesPanel />);
    expect(await screen.findByText(/No database/)).toBeInTheDocument();
  });
});

describe("the rule of a cause", () => {
  it("is proposed by a button", async () => {
    const asked = rules([], "operator", { [`POST /lab/campaigns/${CAMPAIGN}/rules`]: RULE });
    renderPage(<CauseRule cause={NEW} campaign={CAMPAIGN} />);
    await userEvent.click(await screen.findByRole("button", { name: "Propose a rule from cause 1" }));
    expect(asked.find(({ method }) => method === "POST")?.body).toEqual({ cause: 1 });
  });

  it("is named where it exists, and its absence explained", async () => {
    rules([RULE]);
    const { unmount } = renderPage(<CauseRule cause={NEW} campaign={CAMPAIGN} />);
    expect(await screen.findByRole("status")).toHaveTextContent("Rule L1/1 is proposed.");
    unmount();
    rules([]);
    renderPage(<CauseRule cause={{ ...NEW, rule: null, no_rule: "No signal shows this." }} campaign={CAMPAIGN} />);
    expect(await screen.findByText("No rule: No signal shows this.")).toBeInTheDocument();
  });
});
