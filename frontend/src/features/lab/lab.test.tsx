import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it, vi } from "vitest";
import type { Campaign } from "@/lib/api/types";
import { renderPage } from "@/testing/render";
import { problem, serve, signedIn } from "@/testing/server";
import { CampaignPage } from "./CampaignPage";
import { LabPage } from "./LabPage";
import { NewCampaignPage } from "./NewCampaignPage";
import { CAMPAIGN, CAUSE, DEVICE, REPORT } from "@/testing/lab";

const PATH = `/lab/campaigns/${CAMPAIGN.id}`;
const page = (items: unknown[]) => ({ items, next_cursor: null });
const devices = (items: unknown[]) => ({ ...page(items), run_role: "operator" });
const lab = (campaign: Campaign, more = {}) =>
  serve({
    "GET /session": signedIn("operator"),
    "GET /lab/devices": devices([DEVICE]),
    "GET /lab/campaigns": page([campaign]),
    [`GET ${PATH}`]: campaign,
    [`GET ${PATH}/tests`]: page([]),
    "GET /lab/catalogue": { dimensions: [], causes: [] },
    "GET /lab/rules": page([]),
    ...more,
  });
const TEST = {
  line: 1,
  kind: "test",
  phase: "baseline",
  status: "ok",
  attempt: 1,
  config: { egress_masks: 1 },
  symptoms: [],
  metrics: { bw_gbps: 98 },
  reason: null,
  seconds: 0.5,
};
const running: Campaign = { ...CAMPAIGN, state: "running", report: null, causes: null, complete: null, ended_at: null };

describe("the list of campaigns", () => {
  it("says how many tests were saved and what was found", async () => {
    lab(CAMPAIGN);
    renderPage(<LabPage filters={{}} />);
    const row = await screen.findByTestId("campaign");
    expect(row).toHaveTextContent("28,125×");
    expect(row).toHaveTextContent("1 cause found");
    expect(screen.queryByRole("button", { name: "Stop all campaigns" })).not.toBeInTheDocument();
  });

  it("stops every campaign after one question, and shows viewers no such button", async () => {
    const asked = lab(running, { "POST /lab/stop": { stopped: 1 } });
    renderPage(<LabPage filters={{}} />);
    await userEvent.click(await screen.findByRole("button", { name: "Stop all campaigns" }));
    await userEvent.click(await screen.findByRole("button", { name: "Stop all" }));
    expect(asked.some(({ method, path }) => method === "POST" && path === "/lab/stop")).toBe(true);
  });

  it("has an empty state that says what to do, and an error with its reason", async () => {
    serve({
      "GET /session": signedIn("viewer"),
      "GET /lab/devices": devices([]),
      "GET /lab/campaigns": problem(503, "database_unavailable", "The database does not answer"),
    });
    renderPage(<LabPage filters={{}} />);
    expect(await screen.findByText("No device to test")).toBeInTheDocument();
    expect(await screen.findByText(/The database does not answer/)).toBeInTheDocument();
    expect(screen.queryByText("Start a campaign")).not.toBeInTheDocument();
  });
});

describe("a campaign", () => {
  it("shows a cause with its conditions, its evidence and its reproducer", async () => {
    lab(CAMPAIGN);
    renderPage(<CampaignPage id={CAMPAIGN.id} />);
    const panel = await screen.findByRole("region", { name: "Cause 1: S6" });
    expect(panel).toHaveTextContent("This is C6: Masks are looked up one after another");
    expect(within(panel).getByText("egress_masks is at least 24")).toBeInTheDocument();
    expect(panel).toHaveTextContent("last good 23, first bad 24 masks");
    expect(within(panel).getByRole("row", { name: /flows 0 of 5 .*Not shown to matter/ })).toBeInTheDocument();
    expect(panel).toHaveTextContent("10 of 10 inside, 9 of 10 just outside");
    expect(panel).toHaveTextContent("The device does not recover from it until a reset.");
    expect(within(panel).getByRole("link", { name: "Open ticket about cause 1" })).toHaveAttribute(
      "href",
      CAUSE.ticket_url,
    );
    await userEvent.click(within(panel).getByRole("button", { name: "Show text" }));
    expect(within(panel).getByText(/S6 appears when/, { selector: "code,pre" })).toBeInTheDocument();
    const diagram = screen.getByRole("img", { name: /Causal diagram/ });
    expect(diagram).toHaveAccessibleName("Causal diagram: egress_masks to Mask table, Mask table to S6");
  });

  it("shows where a threshold was measured that other parameters move, and what was not verified", async () => {
    const [first] = CAUSE.conditions;
    if (!first) throw new Error("the cause has a condition");
    const thresholds = [
      { at: { lanes: "16", jumbo: true }, value: 24 },
      { at: { lanes: "4", jumbo: true }, value: null },
    ];
    const moved = { ...first, moved_by: ["lanes", "jumbo"], thresholds };
    const verification = { inside: { agree: 0, of: 0 }, outside: { agree: 0, of: 0 } };
    lab({ ...CAMPAIGN, report: { ...REPORT, resets: 6, causes: [{ ...CAUSE, conditions: [moved], verification }] } });
    renderPage(<CampaignPage id={CAMPAIGN.id} />);
    const panel = await screen.findByRole("region", { name: "Cause 1: S6" });
    const table = within(panel).getByRole("table", { name: "How other parameters move the threshold of egress_masks" });
    expect(within(table).getByRole("row", { name: "16 on 24" })).toBeInTheDocument();
    expect(within(table).getByRole("row", { name: "4 on never" })).toBeInTheDocument();
    expect(panel).toHaveTextContent("Not verified: the campaign ended before any fresh configuration was tested.");
    expect(screen.getByText(/tests and 6 resets in/)).toBeInTheDocument();
  });

  it("says what a new cause is, and what an incomplete search would test next", async () => {
    const report = { ...REPORT, complete: false, stopped: "budget reached", next: ["verify cause 1"], strength: 0 };
    lab({
      ...CAMPAIGN,
      message: "budget reached",
      complete: false,
      report: { ...report, causes: [{ ...CAUSE, recognised: null }] },
    });
    renderPage(<CampaignPage id={CAMPAIGN.id} />);
    expect(await screen.findByText(/New: no cause of the catalogue/)).toBeInTheDocument();
    const panel = screen.getByRole("region", { name: "Incomplete" });
    expect(panel).toHaveTextContent("The search ended early: budget reached.");
    expect(screen.getByText("Ended early")).toBeInTheDocument();
    expect(screen.getByText("Budget reached.")).toBeInTheDocument();
    expect(panel).toHaveTextContent("verify cause 1");
  });

  it("offers a policy for what events show, and says why there is none for the rest", async () => {
    const policy = {
      title: "Releases are 121 ms apart",
      formula: "G(RELEASED -> X(!RELEASED W SETTLED))",
      subject: "rnic" as const,
      propositions: { RELEASED: { kind: ["vf_unbound"] } },
      severity: "warning" as const,
      violation: "Too close.",
    };
    lab({
      ...CAMPAIGN,
      report: {
        ...REPORT,
        causes: [
          { ...CAUSE, policy, no_policy: null },
          { ...CAUSE, id: 2 },
        ],
      },
    });
    renderPage(<CampaignPage id={CAMPAIGN.id} />);
    const link = await screen.findByRole("link", { name: "Create policy from cause 1" });
    expect(link).toHaveAttribute("href", expect.stringMatching(/\/policies\/new.*cause=1/));
    expect(screen.queryByRole("link", { name: "Create policy from cause 2" })).not.toBeInTheDocument();
    expect(screen.getByText(/No policy: A policy speaks of events/)).toBeInTheDocument();
  });

  it("compares with brute force over what varied, and says what was covered of it", async () => {
    const options = { ...CAMPAIGN.options, parameters: ["egress_masks"] };
    const report = { ...REPORT, strength: 1, varied: ["egress_masks"] };
    lab({ ...CAMPAIGN, options, report, brute_force_tests: "5", progress: { ...CAMPAIGN.progress, tests: 71 } });
    renderPage(<CampaignPage id={CAMPAIGN.id} />);
    expect(
      await screen.findByText(
        "Brute force over egress_masks (up to five values) would take 5 tests; the other tests locate limits and confirm causes.",
      ),
    ).toBeInTheDocument();
    expect(
      screen.getByText("Nothing else was found at any level of egress_masks, the only parameter that varied."),
    ).toBeInTheDocument();
  });

  it("says that nothing is wrong only up to what was covered", async () => {
    lab({ ...CAMPAIGN, report: { ...REPORT, causes: [], strength: 3 } });
    renderPage(<CampaignPage id={CAMPAIGN.id} />);
    expect(
      await screen.findByText("Nothing wrong was found in every combination of any 3 of the 4 varied parameters."),
    ).toBeInTheDocument();
    expect(screen.queryByRole("button", { name: "Write into profile" })).not.toBeInTheDocument();
  });

  it("shows the tests of a campaign that ends while the page is open", async () => {
    const first = { ...TEST, n: 1 };
    const answers = { tests: page([]), campaign: running };
    lab(running, { [`GET ${PATH}`]: () => answers.campaign, [`GET ${PATH}/tests`]: () => answers.tests });
    renderPage(<CampaignPage id={CAMPAIGN.id} />);
    expect(await screen.findByText("No test yet")).toBeInTheDocument();
    answers.tests = page([first]);
    answers.campaign = CAMPAIGN;
    expect(await screen.findByText("Finished", {}, { timeout: 20_000 })).toBeInTheDocument();
    expect(await screen.findByRole("table", { name: "Tests" }, { timeout: 20_000 })).toHaveTextContent("bw_gbps 98");
  }, 60_000);

  it("is stopped while it runs", async () => {
    const asked = lab(running, { [`POST ${PATH}/stop`]: { ...running, stopping: true } });
    renderPage(<CampaignPage id={CAMPAIGN.id} />);
    await userEvent.click(await screen.findByRole("button", { name: "Stop" }));
    await userEvent.click(await screen.findByRole("button", { name: "Stop the campaign" }));
    expect(asked.some(({ path }) => path === `${PATH}/stop`)).toBe(true);
    expect(screen.getByRole("progressbar", { name: /Budget used/ })).toBeInTheDocument();
  });

  it("writes its limits into a candidate of the profile", async () => {
    lab(CAMPAIGN, { [`POST ${PATH}/profile`]: { model: "CX-6", number: 4, limits: { egress_masks: 23 } } });
    renderPage(<CampaignPage id={CAMPAIGN.id} />);
    await userEvent.click(await screen.findByRole("button", { name: "Write into profile" }));
    expect(await screen.findByText(/Version 4 of CX-6/)).toBeInTheDocument();
  });

  it("shows the reason when its report cannot be read", async () => {
    lab({ ...CAMPAIGN, report: null, report_problem: "The report cannot be read: causes.0.id" });
    renderPage(<CampaignPage id={CAMPAIGN.id} />);
    expect(await screen.findByRole("alert")).toHaveTextContent("causes.0.id");
  });
});

describe("a campaign on an RNIC of the fleet", () => {
  const rnic = { ...DEVICE, host: "host01", pci: "0000:3b:00.0", run_role: "admin", needs_approval: true };
  const pending: Campaign = {
    ...CAMPAIGN,
    state: "pending",
    report: null,
    causes: null,
    complete: null,
    started_at: null,
    ended_at: null,
  };
  const asAdmin = { "GET /session": signedIn("admin"), "GET /lab/devices": devices([rnic]) };

  it("waits for another person, who approves it with a comment", async () => {
    const approved = { ...pending, state: "queued", decided_by: "erin" };
    const asked = lab(pending, { ...asAdmin, [`POST ${PATH}/approve`]: approved });
    renderPage(<CampaignPage id={CAMPAIGN.id} />);
    const panel = await screen.findByRole("region", { name: "Waits for approval by another person" });
    expect(panel).toHaveTextContent("dana requested it");
    expect(panel).toHaveTextContent("0000:3b:00.0 of host host01");
    await userEvent.type(await within(panel).findByLabelText(/Comment/), "drained");
    await userEvent.click(within(panel).getByRole("button", { name: "Approve" }));
    expect(asked.find(({ path }) => path === `${PATH}/approve`)?.body).toEqual({ comment: "drained" });
    expect(screen.queryByText("Progress")).not.toBeInTheDocument();
  });

  it("is rejected only with a reason, and shows why the requester's approval is refused", async () => {
    const asked = lab(pending, {
      ...asAdmin,
      [`POST ${PATH}/reject`]: { ...pending, state: "rejected" },
      [`POST ${PATH}/approve`]: problem(403, "second_person_needed", "Somebody else must approve what you requested"),
    });
    renderPage(<CampaignPage id={CAMPAIGN.id} />);
    await userEvent.click(await screen.findByRole("button", { name: "Approve" }));
    expect(await screen.findByText(/Somebody else must approve/)).toBeInTheDocument();
    expect(screen.getByRole("button", { name: "Reject" })).toBeDisabled();
    await userEvent.type(screen.getByLabelText(/Comment/), "carries traffic");
    await userEvent.click(screen.getByRole("button", { name: "Reject" }));
    expect(asked.find(({ path }) => path === `${PATH}/reject`)?.body).toEqual({ reason: "carries traffic" });
  });

  it("has no buttons for who may not decide", async () => {
    lab(pending, { "GET /lab/devices": devices([rnic]) });
    renderPage(<CampaignPage id={CAMPAIGN.id} />);
    expect(await screen.findByText("The role admin is required to approve or reject it.")).toBeInTheDocument();
    expect(screen.queryByRole("button", { name: "Approve" })).not.toBeInTheDocument();
  });

  it("is requested in the start form, by administrators only", async () => {
    lab(pending, asAdmin);
    const first = renderPage(<NewCampaignPage search={{ device: "dut" }} onStarted={vi.fn()} />);
    expect(await screen.findByRole("button", { name: "Request approval" })).toBeEnabled();
    expect(screen.getByText(/Another person must approve the campaign/)).toBeInTheDocument();
    first.unmount();
    lab(pending, { "GET /lab/devices": devices([rnic]) });
    renderPage(<NewCampaignPage search={{ device: "dut" }} onStarted={vi.fn()} />);
    expect(await screen.findByText("Campaigns on dut require the role admin.")).toBeInTheDocument();
    expect(screen.getByRole("button", { name: "Request approval" })).toBeDisabled();
  });
});

describe("the start form", () => {
  it("starts a campaign that varies only what a cause shows in", async () => {
    const asked = lab(CAMPAIGN, { "POST /lab/campaigns": CAMPAIGN });
    const started = vi.fn();
    renderPage(<NewCampaignPage search={{ cause: "C6" }} onStarted={started} />);
    expect(await screen.findByRole("checkbox", { name: "Vary egress_masks" })).toBeChecked();
    expect(screen.getByRole("checkbox", { name: "Vary flows" })).not.toBeChecked();
    await userEvent.click(screen.getByRole("button", { name: "Start" }));
    const sent = asked.find(({ method }) => method === "POST");
    expect(sent?.body).toMatchObject({ device: "dut", parameters: ["egress_masks", "verb"], budget: 1000 });
    expect(started).toHaveBeenCalledWith(CAMPAIGN.id);
  });

  it("says what is missing before it asks the server, and shows the server's refusal", async () => {
    const asked = lab(CAMPAIGN, {
      "POST /lab/campaigns": problem(409, "rnic_not_cordoned", "Only a cordoned RNIC is tested"),
    });
    renderPage(<NewCampaignPage search={{ cause: "C6" }} onStarted={vi.fn()} />);
    await userEvent.click(await screen.findByRole("button", { name: "Select all" }));
    await userEvent.click(screen.getByRole("button", { name: "Clear all" }));
    await userEvent.click(screen.getByRole("button", { name: "Start" }));
    expect(await screen.findByText("Choose at least one parameter")).toBeInTheDocument();
    expect(asked.some(({ method }) => method === "POST")).toBe(false);
    await userEvent.click(screen.getByRole("button", { name: "Select all" }));
    await userEvent.click(screen.getByRole("button", { name: "Start" }));
    expect(await screen.findByText(/Only a cordoned RNIC is tested/)).toBeInTheDocument();
  });
});
