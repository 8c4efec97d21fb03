import { Notifications } from "@mantine/notifications";
import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { SloPreview, SloRules } from "@/lib/api/types";
import { GOLD } from "@/testing/isolation";
import { renderPage } from "@/testing/render";
import { problem, serve, signedIn } from "@/testing/server";
import { SloPage } from "./SloPage";

afterEach(() => vi.restoreAllMocks());

const RULES: SloRules = {
  rules: [
    { matchers: [{ name: "namespace", op: "=", value: "payments" }], slo_class: "gold" },
    { matchers: [], slo_class: "silver" },
  ],
  version: 4,
  updated_at: null,
  updated_by: null,
};
const PREVIEW: SloPreview = {
  vfs: [
    { host: "host01", pci: "0000:3b:00.0", vf: 0, pod: "payments/api", tenant: "payments", slo: null, before: null },
  ],
  vfs_total: 1,
  matched: 0,
  changed: 0,
  refused: [],
  refused_total: 0,
};
const REFUSED = [{ host: "host01", pci: "0000:3b:00.0", sum_min_mbps: 112_000, port_mbps: 100_000 }];
const SILVER = { ...GOLD, name: "silver", rules: 1 };

function show(answers: Record<string, unknown> = {}, role: "viewer" | "operator" = "operator") {
  const asked = serve({
    "GET /session": signedIn(role),
    "GET /isolation/slo-classes": [GOLD, SILVER],
    "GET /isolation/slo-rules": RULES,
    "POST /isolation/slo-rules/preview": PREVIEW,
    ...answers,
  });
  renderPage(
    <>
      <Notifications />
      <SloPage />
    </>,
  );
  return (method: string) => asked.filter((each) => each.method === method && !each.path.endsWith("preview"));
}

describe("SLO classes", () => {
  it("are created in Mbit/s, µs and percent", async () => {
    const sent = show({ "POST /isolation/slo-classes": GOLD });
    await userEvent.click(await screen.findByRole("button", { name: "New class" }));
    const dialog = await screen.findByRole("dialog");
    const type = (label: RegExp, text: string) => userEvent.type(within(dialog).getByLabelText(label), text);
    await userEvent.click(within(dialog).getByRole("button", { name: "Create class" }));
    expect(dialog).toHaveTextContent("A name is required");
    await type(/^Name/, "bronze");
    await type(/^Guaranteed/, "100");
    await type(/^At most/, "2000");
    await type(/99th/, "500");
    await type(/^Loss/, "0.1");
    await userEvent.click(within(dialog).getByRole("button", { name: "Create class" }));
    await waitFor(() => expect(sent("POST")).toHaveLength(1));
    expect(sent("POST")[0]?.body).toEqual({
      ...{ name: "bronze", min_mbps: 100, max_mbps: 2000, p50_us: null, p99_us: 500, loss: 0.001, description: "" },
    });
  });

  it("come back by undo, and cannot be deleted while a rule assigns them", async () => {
    const sent = show({ "DELETE /isolation/slo-classes/gold": null, "POST /isolation/slo-classes": GOLD });
    expect(await screen.findByRole("button", { name: "Delete class silver" })).toBeDisabled();
    await userEvent.click(screen.getByRole("button", { name: "Delete class gold" }));
    await userEvent.click(await screen.findByRole("button", { name: /Undo/ }));
    await waitFor(() => expect(sent("POST")).toHaveLength(1));
    expect(sent("DELETE")).toHaveLength(1);
    expect(sent("POST")[0]?.body).toMatchObject({ name: "gold", min_mbps: 1000, loss: 0.0001 });
  });

  it("show why the server refuses a change", async () => {
    show({
      "PUT /isolation/slo-classes/gold": problem(409, "minima_exceed_link", "The minima exceed the link", "112 > 100"),
    });
    await userEvent.click(await screen.findByRole("button", { name: "Edit class gold" }));
    await userEvent.click(within(await screen.findByRole("dialog")).getByRole("button", { name: "Save" }));
    expect(await screen.findByRole("alert")).toHaveTextContent("The minima exceed the link112 > 100");
  });
});

describe("rules", () => {
  it("are previewed and saved together, with the version that they started from", async () => {
    const sent = show({ "PUT /isolation/slo-rules": { ...RULES, version: 5 } });
    await userEvent.click(await screen.findByRole("button", { name: "Move rule 2 up" }));
    expect(screen.getByText("not saved yet")).toBeInTheDocument();
    expect(screen.getByText(/Never used: rule 1 matches every VF/)).toBeInTheDocument();
    await userEvent.click(screen.getByRole("button", { name: "Save rules" }));
    await waitFor(() => expect(sent("PUT")).toHaveLength(1));
    expect(sent("PUT")[0]?.body).toEqual({ rules: [...RULES.rules].reverse() });
  });

  it("cannot be saved while minima exceed a link, and say the sum", async () => {
    show({
      "POST /isolation/slo-rules/preview": ({ body }: { body: { rules: unknown[] } }) =>
        body.rules.length === 1 ? { ...PREVIEW, refused: REFUSED } : PREVIEW,
    });
    await userEvent.click(await screen.findByRole("button", { name: "Delete rule 2" }));
    expect(await screen.findByRole("alert")).toHaveTextContent("add up to 112 Gbit/s; its link has 100 Gbit/s");
    expect(screen.getByRole("button", { name: "Save rules" })).toBeDisabled();
    await userEvent.click(screen.getByRole("button", { name: "Undo" }));
    expect(await screen.findByRole("button", { name: "Delete rule 2" })).toBeInTheDocument();
    expect(screen.queryByRole("button", { name: "Save rules" })).not.toBeInTheDocument();
  });

  it("are added with conditions on the tenant", async () => {
    show();
    await userEvent.click(await screen.findByRole("button", { name: "Add rule" }));
    const dialog = await screen.findByRole("dialog");
    const add = within(dialog).getByRole("button", { name: "Add rule" });
    expect(add).toBeDisabled();
    await userEvent.type(within(dialog).getByLabelText("Value 1"), "ml");
    await userEvent.click(add);
    expect(await screen.findByText("tenant is ml")).toBeInTheDocument();
  });
});

describe("a viewer", () => {
  it("reads classes and rules, and finds no button", async () => {
    show({}, "viewer");
    expect(await screen.findByText("every VF")).toBeInTheDocument();
    expect(screen.getByText(/needs the role operator or admin/)).toBeInTheDocument();
    expect(screen.queryByRole("button", { name: /class|rule/i })).not.toBeInTheDocument();
    expect(screen.queryByText("Assigned now")).not.toBeInTheDocument();
  });
});

describe("without classes", () => {
  it("says what to do first", async () => {
    show({ "GET /isolation/slo-classes": [], "GET /isolation/slo-rules": { ...RULES, rules: [] } });
    expect(await screen.findByText("No SLO classes yet")).toBeInTheDocument();
    expect(await screen.findByRole("button", { name: "Add rule" })).toBeDisabled();
  });

  it("shows the error of the API", async () => {
    show({ "GET /isolation/slo-rules": problem(503, "down", "The database does not answer") });
    expect(await screen.findByRole("alert")).toHaveTextContent("The database does not answer");
  });
});
