import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { RolloutsPage } from "@/features/rollouts/RolloutsPage";
import { CATALOGUE } from "@/testing/catalogue";
import { renderPage } from "@/testing/render";
import { ControlPanel } from "./ControlPanel";

const BUSY = { hosts: 2, racks: 1, fleet: 8, most_hosts: 3, most_racks: 8 };
const OPEN = {
  action: "tune-revalidator",
  open: true,
  failed: 5,
  finished: 6,
  window_s: 3600,
  failures_that_open: 5,
  reset_at: null,
  reset_by: null,
};
const STOP = { at: "2026-11-21T03:00:00Z", by: "operator", reason: "the fleet burns" };
const target = (host: string, state: string | null) => ({
  host,
  pci: "0000:3b:00.0",
  remedy_id: null,
  state,
  message: null,
  undo_state: null,
  undo_message: null,
});
const ROLLOUT = {
  id: "00000000-0000-4000-8000-000000000021",
  action: "pace-vf-unbinding",
  params: { interval_ms: 500 },
  state: "pending",
  wave: 0,
  waves: [[target("h1", null)], [target("h2", null), target("h3", null)]],
  confirmed: 0,
  targets: 3,
  reason: "links were lost",
  message: null,
  undo_on_stop: false,
  not_before: null,
  not_after: null,
  requested_by: "operator",
  decided_by: null,
  decided_at: null,
  decision_comment: null,
  undoable: false,
  undo: null as object | null,
  created_at: "2026-11-21T03:00:00Z",
  updated_at: "2026-11-21T03:00:00Z",
};

let stopped: typeof STOP | null = null;
let shown = ROLLOUT;
const sent: { path: string; body: unknown }[] = [];

function answer(path: string): unknown {
  if (path.endsWith("/catalogue")) return CATALOGUE;
  if (path.endsWith("/remedy-actions")) return [];
  if (path.includes("/remedy-control")) return { stop: stopped, busy: BUSY, breakers: [OPEN], awaiting_approval: 1 };
  return path.endsWith("/rollouts") ? { items: [shown], next_cursor: null } : shown;
}

beforeEach(() => {
  stopped = null;
  shown = ROLLOUT;
  sent.length = 0;
  vi.spyOn(globalThis, "fetch").mockImplementation(async (input) => {
    const request = input as Request;
    const path = new URL(request.url).pathname;
    if (request.method === "POST") {
      const text = await request.text();
      sent.push({ path, body: text === "" ? null : JSON.parse(text) });
      if (path.endsWith("/remedy-control/stop")) stopped = STOP;
    }
    return Response.json(answer(path));
  });
});
afterEach(() => vi.restoreAllMocks());

describe("the control of remedies", () => {
  it("shows limits and open breakers, and stops all remedies with a reason", async () => {
    renderPage(<ControlPanel />);
    expect(await screen.findByText(/Running on 2 of at most 3 hosts/)).toBeInTheDocument();
    expect(screen.getByText(/5 of 6 failed recently/)).toBeInTheDocument();
    await userEvent.click(screen.getByRole("button", { name: "Stop all remedies" }));
    const dialog = await screen.findByRole("dialog", { name: "Stop all remedies" });
    const submit = within(dialog).getByRole("button", { name: "Stop all remedies" });
    expect(submit).toBeDisabled();
    await userEvent.type(screen.getByLabelText(/Reason/), "the fleet burns");
    await userEvent.click(submit);
    expect(await screen.findByText(/operator stopped all remedies/)).toBeInTheDocument();
    expect(sent).toEqual([{ path: "/api/v1/remedy-control/stop", body: { reason: "the fleet burns" } }]);
    expect(screen.queryByRole("button", { name: "Stop all remedies" })).not.toBeInTheDocument();
  });
});

describe("a rollout", () => {
  it("shows each wave and is approved with a comment, or rejected with a reason", async () => {
    renderPage(<RolloutsPage />);
    expect(await screen.findByText("Canary: 0 of 1 confirmed · Wave 2: 0 of 2 confirmed")).toBeInTheDocument();
    await userEvent.click(screen.getByRole("button", { name: "Approve" }));
    const approval = await screen.findByRole("dialog", { name: "Approve rollout" });
    await userEvent.type(within(approval).getByLabelText(/Comment/), "seen");
    await userEvent.click(within(approval).getByRole("button", { name: "Approve" }));
    await vi.waitFor(() =>
      expect(sent).toEqual([{ path: `/api/v1/rollouts/${ROLLOUT.id}/approve`, body: { comment: "seen" } }]),
    );
    await vi.waitFor(() => expect(screen.queryByRole("dialog")).not.toBeInTheDocument());
    await userEvent.click(screen.getByRole("button", { name: "Reject" }));
    await userEvent.type(await screen.findByLabelText(/Reason/), "not now");
    const dialog = screen.getByRole("dialog", { name: "Reject rollout" });
    await userEvent.click(within(dialog).getByRole("button", { name: "Reject" }));
    await vi.waitFor(() =>
      expect(sent[1]).toEqual({ path: `/api/v1/rollouts/${ROLLOUT.id}/reject`, body: { reason: "not now" } }),
    );
  });

  it("is rolled back everywhere after a question, and shows its progress", async () => {
    shown = { ...ROLLOUT, state: "confirmed", confirmed: 3, undoable: true };
    renderPage(<RolloutsPage />);
    await userEvent.click(await screen.findByRole("button", { name: "Roll back…" }));
    const dialog = await screen.findByRole("dialog", { name: "Roll back rollout" });
    expect(within(dialog).getByRole("button", { name: "Roll back" })).toBeDisabled();
    await userEvent.type(within(dialog).getByLabelText(/Reason/), "the job is over");
    shown = {
      ...shown,
      state: "undo_paused",
      undo: {
        by: "operator",
        reason: "the job is over",
        began_at: ROLLOUT.created_at,
        despite_failures: false,
        message: "h3 could not be undone.",
        undone: 1,
        targets: 3,
      },
    };
    await userEvent.click(within(dialog).getByRole("button", { name: "Roll back" }));
    expect(sent).toEqual([
      { path: `/api/v1/rollouts/${ROLLOUT.id}/undo`, body: { reason: "the job is over", despite_failures: false } },
    ]);
    expect(await screen.findByText("h3 could not be undone.")).toBeInTheDocument();
    expect(screen.getByRole("progressbar", { name: "1 of 3 rolled back" })).toBeInTheDocument();
    expect(screen.getByRole("button", { name: "Try again…" })).toBeInTheDocument();
  });
});
