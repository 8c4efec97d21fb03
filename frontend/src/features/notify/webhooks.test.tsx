import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Webhook } from "@/lib/api/types";
import { STATES } from "@/testing/catalogue";
import { renderPage } from "@/testing/render";
import { signedIn } from "@/testing/server";
import { readable } from "./DeliveryDialog";
import { eventGroups, logEvents } from "./events";
import { parseLogFilters } from "./filters";
import { addressError, addressFor, shownAddress } from "./receivers";
import { repeatChoices, routeText, toRepeat } from "./routing";
import { WebhookDialog } from "./WebhookDialog";
import { WebhookRow } from "./WebhookRow";
import { WebhooksPage } from "./WebhooksPage";

const ID = "00000000-0000-4000-8000-000000000021";
const webhook: Webhook = {
  id: ID,
  name: "On-call",
  url: "https://oncall.example.org/",
  events: ["incident.opened"],
  format: "alertmanager",
  matchers: [{ name: "severity", op: "=", value: "critical" }],
  group_by: ["rack"],
  group_wait_s: 30,
  group_interval_s: 300,
  repeat_interval_s: 14_400,
  enabled: true,
  disabled_reason: null,
  failing_since: null,
  created_by: "admin",
  created_at: "2026-11-21T03:00:00Z",
  last_delivery_at: null,
  dead_letters: 0,
  credential_fingerprint: null,
};
const plain = { matchers: [], group_by: [], group_wait_s: 0, group_interval_s: 0, repeat_interval_s: null };
const attempt = (status: number | null, error: string | null = null) => ({
  at: "2026-11-21T03:00:00Z",
  status,
  duration_ms: 12,
  error,
});

describe("what a webhook gets, in words", () => {
  it("names conditions, company and pauses", () => {
    expect(routeText(webhook)).toBe(
      "incidents where severity is critical · grouped by rack · after 30 s · then at most every 5 min · repeated every 4 h while unresolved",
    );
    expect(routeText(plain)).toBe("every incident");
  });

  it("keeps a repeat interval that the API set although it is no usual one", () => {
    expect(repeatChoices(5400).map(({ label }) => label)).toContain("every 1 h 30 min");
    expect(repeatChoices(3600).filter(({ value }) => value === "3600")).toHaveLength(1);
    expect([toRepeat("never"), toRepeat("3600"), toRepeat(null)]).toEqual([null, 3600, null]);
  });
});

describe("the log", () => {
  it("takes from the URL only what it knows", () => {
    expect(parseLogFilters({ webhook: ID, state: "failed", event: "incident.group", q: " rack r2 " })).toEqual({
      webhook: ID,
      state: "failed",
      event: "incident.group",
      q: "rack r2",
    });
    expect(parseLogFilters({ state: "lost", event: "party", q: "  ", webhook: 7 })).toEqual({});
  });

  it("shows a body that is no JSON as it is", () => {
    expect(readable('{"a":1}')).toBe('{\n  "a": 1\n}');
    expect(readable("plain")).toBe("plain");
  });
});

interface Sent {
  method: string;
  path: string;
  body: Record<string, unknown>;
}
const sent: Sent[] = [];
let role: "viewer" | "operator" | "admin" = "admin";
const delivery = {
  id: "00000000-0000-4000-8000-000000000031",
  event: "webhook.test",
  about: "a test",
  state: "delivered",
  attempts: [attempt(204)],
  created_at: "2026-11-21T03:00:00Z",
  delivered_at: null,
  next_attempt_at: null,
  body: "{}",
};

beforeEach(() => {
  // jsdom does not scroll; the list of formats would, to the one that is chosen.
  HTMLElement.prototype.scrollIntoView = () => undefined;
  sent.length = 0;
  role = "admin";
  vi.spyOn(globalThis, "fetch").mockImplementation(async (input) => {
    const request = input as Request;
    const path = new URL(request.url).pathname;
    if (path === "/api/v1/session") return Response.json(signedIn(role));
    if (path === "/api/v1/webhooks" && request.method === "GET")
      return Response.json({ items: [webhook], next_cursor: null });
    if (path.endsWith("/deliveries")) return Response.json({ items: [delivery], next_cursor: null });
    if (request.method === "GET") return Response.json(delivery);
    const text = await request.text();
    sent.push({ method: request.method, path, body: text ? (JSON.parse(text) as Record<string, unknown>) : {} });
    if (path.endsWith("/test")) return Response.json({ ...delivery, state: "pending", attempts: [] }, { status: 202 });
    return Response.json(request.method === "POST" ? { ...webhook, secret: "whsec_x" } : webhook, {
      status: request.method === "POST" ? 201 : 200,
    });
  });
});
afterEach(() => vi.restoreAllMocks());

describe("events to choose", () => {
  it("are those of the served states, and those of waves", () => {
    const [incidents, remedies, rollouts] = eventGroups(STATES);
    expect(incidents?.events.map(({ label }) => label)).toEqual(["Opened or reopened", "Changed", "Resolved"]);
    expect(remedies?.events).toContainEqual({ value: "remedy.not_confirmed", label: "Not confirmed" });
    expect(remedies?.events.map(({ value }) => value)).not.toContain("remedy.planned");
    expect(rollouts?.events.map(({ value }) => value).slice(-2)).toEqual([
      "rollout.wave_started",
      "rollout.wave_confirmed",
    ]);
  });

  it("name early warnings in the words of the pages", () => {
    const warnings = eventGroups(STATES).at(-1);
    expect(warnings?.events).toContainEqual({
      value: "decline.expected",
      label: "Decline of bandwidth likely within the hour",
    });
  });

  it("follow the server: a state that it adds is offered", () => {
    const held = {
      name: "held",
      label: "Held",
      sentence: "is held",
      outcome: "bad",
      over: false,
      undoable: false,
    } as const;
    const remedy = [...STATES.remedy, { ...held, event: "remedy.held" }];
    expect(logEvents({ ...STATES, remedy })).toContainEqual({ value: "remedy.held", label: "remedy: held" });
  });
});

/** By label and text: a query by role looks at every element of the dialog, and is slow. */
async function choose(format: string) {
  await userEvent.click(screen.getByLabelText("Format", { selector: "input" }));
  await userEvent.click(await screen.findByText(format));
}

/** At once: the dialog is drawn again for each letter that is typed. */
async function fill(label: string, text: string) {
  await userEvent.click(screen.getByLabelText(label));
  await userEvent.paste(text);
}

describe("the dialog", () => {
  it("creates a webhook for every incident, each on its own, by default", async () => {
    renderPage(<WebhookDialog webhook={null} onClose={vi.fn()} />);
    expect(screen.getByText("No conditions: every incident is sent.")).toBeInTheDocument();
    await fill("Name", "Tickets");
    await fill("URL", "https://tickets.example.org/");
    await choose("Slack");
    await userEvent.click(screen.getByRole("button", { name: "Add" }));
    expect(await screen.findByText("whsec_x")).toBeInTheDocument();
    expect(sent[0]?.body).toMatchObject({ name: "Tickets", format: "slack", ...plain });
    expect(sent[0]?.body["events"]).toEqual(["incident.opened", "incident.updated", "incident.resolved"]);
  });

  it("fills in the waits of a group, and takes them out with its last label", async () => {
    renderPage(<WebhookDialog webhook={null} onClose={vi.fn()} />);
    await userEvent.click(screen.getByRole("combobox", { name: /^Group incidents by/ }));
    await userEvent.click(await screen.findByRole("option", { name: "rack" }));
    expect(screen.getByLabelText("Group wait")).toHaveValue("30 s");
    expect(screen.getByLabelText("Group interval")).toHaveValue("300 s");
    await userEvent.keyboard("{Backspace}");
    expect(screen.getByLabelText("Group wait")).toHaveValue("0 s");
  });

  it("keeps a route that it does not change, and can open it to every incident", async () => {
    const onClose = vi.fn();
    renderPage(<WebhookDialog webhook={webhook} onClose={onClose} />);
    await userEvent.click(screen.getByRole("button", { name: "Send every incident" }));
    await userEvent.click(screen.getByRole("button", { name: "Save" }));
    await waitFor(() => expect(onClose).toHaveBeenCalled());
    expect(sent[0]).toMatchObject({
      method: "PATCH",
      body: {
        matchers: [],
        group_by: ["rack"],
        group_wait_s: 30,
        group_interval_s: 300,
        repeat_interval_s: 14_400,
        format: "alertmanager",
      },
    });
  });

  it("sends nothing without a name, an address and an event", async () => {
    renderPage(<WebhookDialog webhook={null} onClose={vi.fn()} />);
    await userEvent.click(screen.getByRole("button", { name: "Add" }));
    expect(await screen.findByText("Enter a name")).toBeInTheDocument();
    expect(sent).toEqual([]);
  });
});

describe("receivers with a key or with recipients", () => {
  it("fills in PagerDuty's address and asks for the key, which it sends", async () => {
    renderPage(<WebhookDialog webhook={null} onClose={vi.fn()} />);
    await fill("Name", "Pager");
    await choose("PagerDuty");
    expect(screen.getByLabelText("URL")).toHaveValue("https://events.pagerduty.com/v2/enqueue");
    await userEvent.click(screen.getByRole("button", { name: "Add" }));
    expect(await screen.findByText("Enter the key")).toBeInTheDocument();
    expect(sent).toEqual([]);
    await fill("Integration key", "0123456789abcdef");
    await userEvent.click(screen.getByRole("button", { name: "Add" }));
    await waitFor(() => expect(sent[0]?.body).toMatchObject({ format: "pagerduty", credential: "0123456789abcdef" }));
  });

  it("keeps a stored key unless another one is entered", async () => {
    const onClose = vi.fn();
    const pager: Webhook = { ...webhook, format: "pagerduty", credential_fingerprint: "3eb1bd43" };
    renderPage(<WebhookDialog webhook={pager} onClose={onClose} />);
    expect(screen.getByText("Stored (3eb1bd43); leave empty to keep it")).toBeInTheDocument();
    await userEvent.click(screen.getByRole("button", { name: "Save" }));
    await waitFor(() => expect(onClose).toHaveBeenCalled());
    expect(sent[0]?.body).not.toHaveProperty("credential");
  });

  it("takes recipients of e-mail as people write them", async () => {
    renderPage(<WebhookDialog webhook={null} onClose={vi.fn()} />);
    await fill("Name", "Mail");
    await choose("E-mail");
    await fill("Recipients", "ann@example.org; on+call@example.org");
    await userEvent.click(screen.getByRole("button", { name: "Add" }));
    await waitFor(() =>
      expect(sent[0]?.body).toMatchObject({ format: "email", url: "mailto:ann@example.org,on%2Bcall@example.org" }),
    );
  });

  it("names the recipient that is none, and shows stored ones as people write them", () => {
    expect(addressError("email", "ann@example.org, bob")).toBe("bob is not an e-mail address");
    expect(addressError("email", "  ")).toBe("Enter at least one e-mail address");
    expect(shownAddress("mailto:ann@example.org,on%2Bcall@example.org")).toBe("ann@example.org, on+call@example.org");
    expect(addressFor("slack", "pagerduty", "https://events.pagerduty.com/v2/enqueue")).toBe("");
    expect(addressFor("slack", "native", "https://own.example.org/")).toBe("https://own.example.org/");
    expect(addressFor("native", "email", "ann@example.org")).toBe("");
  });
});

describe("a webhook's row", () => {
  const row = (changes: Partial<Webhook> = {}) =>
    renderPage(
      <ul>
        <WebhookRow webhook={{ ...webhook, ...changes }} selected={false} onSelect={vi.fn()} onEdit={vi.fn()} />
      </ul>,
    );

  it("shows the result of the test next to the button", async () => {
    row();
    await userEvent.click(await screen.findByRole("button", { name: "Send test" }));
    const result = await screen.findByRole("status", { name: "Test result" });
    expect(await within(result).findByText("delivered: HTTP 204 in 12 ms")).toBeInTheDocument();
  });

  it("offers to resend failed deliveries, after asking", async () => {
    row({ dead_letters: 3 });
    await userEvent.click(await screen.findByRole("button", { name: "3 failed" }));
    expect(await screen.findByText(/Resend 3 deliveries/)).toBeInTheDocument();
    await userEvent.click(screen.getByRole("button", { name: "Send again" }));
    await waitFor(() =>
      expect(sent[0]).toMatchObject({ path: "/api/v1/webhooks/dead-letters/replay", body: { webhook_id: ID } }),
    );
  });

  it("says nothing of dead letters where there are none", async () => {
    row();
    await screen.findByRole("button", { name: "Send test" });
    expect(screen.queryByText(/failed/)).not.toBeInTheDocument();
  });
});

describe("the page", () => {
  const manage = ["Add webhook", "Edit", "Delete"];
  const send = ["Send test", "Send again"];
  const names = () => screen.queryAllByRole("button").map((button) => button.textContent);

  it.each([
    ["viewer", [], [...manage, ...send]],
    ["operator", send, manage],
    ["admin", [...manage, ...send], []],
  ] as const)("shows the role %s only what it may do", async (who, shown, hidden) => {
    role = who;
    renderPage(<WebhooksPage filters={{ webhook: ID }} onFilters={vi.fn()} />);
    expect(await screen.findByText("On-call")).toBeInTheDocument();
    await screen.findByRole("button", { name: "Body" });
    await waitFor(() => expect(names()).toEqual(expect.arrayContaining([...shown])));
    for (const name of hidden) expect(names()).not.toContain(name);
    expect(screen.queryAllByRole("switch")).toHaveLength(who === "admin" ? 1 : 0);
  });
});
