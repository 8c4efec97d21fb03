import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Remedy, RemedyAction } from "@/lib/api/types";
import { CATALOGUE } from "@/testing/catalogue";
import { renderPage } from "@/testing/render";
import { purposeOf } from "./purpose";
import { RemedyForm } from "./RemedyForm";

const action: RemedyAction = {
  action: "tune-revalidator",
  title: "Tune the revalidator",
  description: "Sets the idle time.",
  scope: "host",
  at_least_one: ["max_idle_ms"],
  risk: "low",
  risk_text: "Dead flows stay longer.",
  needs_approval: false,
  undo: "Puts the value back.",
  reversible: true,
  operations: "OVSDB",
  privileges: "the database's socket",
  symptoms: ["S1"],
  disturbs: null,
  params: [
    {
      name: "max_idle_ms",
      label: "max-idle",
      type: "integer",
      unit: "ms",
      minimum: 500,
      maximum: 3_600_000,
      max_length: null,
      pattern: null,
      required: false,
      meaning: "Idle time",
    },
  ],
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
      text: "",
    },
  ],
};

function remedy(mode: Remedy["mode"], state: Remedy["state"]): Remedy {
  return {
    id: `id-${mode}`,
    action: "tune-revalidator",
    host: "host03",
    pci: "0000:3b:00.0",
    params: { max_idle_ms: 60_000 },
    mode,
    state,
    incident_id: null,
    requested_by: "admin",
    created_at: "2026-11-21T03:00:00Z",
    updated_at: "2026-11-21T03:00:00Z",
    code: null,
    message: null,
    operations: [{ target: "other_config:max-idle", operation: "set", before: "10000", after: "60000", text: "" }],
    applied_at: null,
    change: null,
    effect: null,
    symptom: null,
    rollout_id: null,
    decided_by: null,
    decided_at: null,
    decision_comment: null,
    undoable: false,
    undo_state: null,
    inhibited: [],
    commands: [],
  };
}

const INCIDENT = {
  id: "00000000-0000-4000-8000-000000000011",
  symptom: "S1",
  title: "Flows come back",
  remedies: [{ action: "tune-revalidator", params: { max_idle_ms: 60_000 }, why: "" }],
};
const orders: { mode: string; key: string | null; incident: string | undefined }[] = [];

beforeEach(() => {
  orders.length = 0;
  vi.spyOn(globalThis, "fetch").mockImplementation(async (input) => {
    const request = input as Request;
    if (request.method === "POST") {
      const body = (await request.json()) as { mode: Remedy["mode"]; incident_id?: string };
      orders.push({ mode: body.mode, key: request.headers.get("Idempotency-Key"), incident: body.incident_id });
      return Response.json(remedy(body.mode, body.mode === "dry_run" ? "planned" : "running"), { status: 201 });
    }
    return Response.json(request.url.endsWith("/catalogue") ? CATALOGUE : remedy("dry_run", "planned"));
  });
});
afterEach(() => vi.restoreAllMocks());

const cordon: RemedyAction = {
  ...action,
  action: "cordon-rnic",
  title: "Cordon",
  params: [],
  at_least_one: [],
  scope: "rnic",
};

function show(onApplied = vi.fn(), initialAction?: string) {
  renderPage(
    <RemedyForm
      actions={[cordon, action]}
      host="host03"
      pci="0000:3b:00.0"
      initialAction={initialAction}
      purposeFor={(name) => purposeOf(name, [INCIDENT])}
      onApplied={onApplied}
    />,
  );
  return onApplied;
}

describe("the remedy form", () => {
  it("starts from the suggestion and can't be applied before its dry run", () => {
    show();
    expect(screen.getByLabelText("max-idle")).toHaveValue("60,000 ms");
    expect(screen.getByRole("button", { name: "Apply" })).toBeDisabled();
    expect(screen.getByText("Affects every RNIC on host03.")).toBeInTheDocument();
  });

  it("shows what one types as code, and no default for what has to be given", () => {
    const numbers = action.params.map((param) => ({ ...param, name: "vf", label: "VF", required: true }));
    const stop: RemedyAction = {
      ...cordon,
      action: "stop-port-offload",
      title: "Stop",
      params: numbers,
      operations: "`ethtool -K PORT hw-tc-offload off`, then deletions",
    };
    renderPage(
      <RemedyForm
        actions={[stop]}
        host="host03"
        pci="0000:3b:00.0"
        initialAction="stop-port-offload"
        purposeFor={(name) => purposeOf(name, [])}
        onApplied={vi.fn()}
      />,
    );
    expect(screen.getByText("ethtool -K PORT hw-tc-offload off").tagName).toBe("CODE");
    expect(screen.getByRole("textbox", { name: /^VF/ })).not.toHaveAttribute("placeholder");
  });

  it("shows exactly what would be done, then applies with a key of its own", async () => {
    const onApplied = show();
    await userEvent.click(screen.getByRole("button", { name: "Dry run" }));
    expect(await screen.findByText("Planned changes on the host")).toBeInTheDocument();
    expect(screen.getByRole("table", { name: "Operations" })).toHaveTextContent("1000060000");
    await userEvent.click(screen.getByRole("button", { name: "Apply" }));
    await vi.waitFor(() => expect(onApplied).toHaveBeenCalledWith("id-apply"));
    expect(orders.map((order) => order.mode)).toEqual(["dry_run", "apply"]);
    expect(orders[0]?.key).toMatch(/^[0-9a-f]{32}$/);
    expect(orders[0]?.key).not.toBe(orders[1]?.key);
  });

  it("is recorded with the open incident that suggests the action, and says so", async () => {
    show();
    expect(screen.getByText("For incident")).toBeInTheDocument();
    expect(screen.getByText("Flows come back")).toBeInTheDocument();
    await userEvent.click(screen.getByRole("button", { name: "Dry run" }));
    await screen.findByText("Planned changes on the host");
    expect(orders.map((order) => order.incident)).toEqual([INCIDENT.id]);
  });

  it("is recorded with no incident when none suggests the action", async () => {
    show(undefined, "cordon-rnic");
    expect(screen.getByText(/^Recorded with the RNIC only/)).toBeInTheDocument();
    await userEvent.click(screen.getByRole("button", { name: "Dry run" }));
    await vi.waitFor(() => expect(orders.map((order) => order.incident)).toEqual([undefined]));
  });

  it("requires a new dry run when a parameter changes", async () => {
    show();
    await userEvent.click(screen.getByRole("button", { name: "Dry run" }));
    await screen.findByText("Planned changes on the host");
    const field = screen.getByLabelText("max-idle");
    await userEvent.clear(field);
    await userEvent.type(field, "30000");
    expect(screen.getByRole("button", { name: "Apply" })).toBeDisabled();
    expect(screen.queryByText("Planned changes on the host")).not.toBeInTheDocument();
  });

  it("sends nothing while a parameter is out of its range", async () => {
    show();
    const field = screen.getByLabelText("max-idle");
    await userEvent.clear(field);
    await userEvent.type(field, "3");
    await userEvent.click(screen.getByRole("button", { name: "Dry run" }));
    expect(screen.getByText("max-idle must be at least 500")).toBeInTheDocument();
    expect(orders).toEqual([]);
  });
});
