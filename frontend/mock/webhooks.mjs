/** Webhooks and their delivery log for the mock server; tests and replays arrive a second later. */
const ID = (n) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
const ago = (seconds) => new Date(Date.now() - seconds * 1000).toISOString();
const page = (items) => ({ items, next_cursor: null });

const webhook = (n, name, more) => ({
  id: ID(n),
  name,
  url: `https://${name.toLowerCase().replaceAll(" ", "-")}.example.org/hooks/wallwatch`,
  events: ["incident.opened", "incident.updated", "incident.resolved"],
  format: "native",
  matchers: [],
  group_by: [],
  group_wait_s: 0,
  group_interval_s: 0,
  repeat_interval_s: null,
  enabled: true,
  disabled_reason: null,
  failing_since: null,
  created_by: "admin",
  created_at: ago(86400),
  last_delivery_at: null,
  dead_letters: 0,
  credential_fingerprint: null,
  ...more,
});
let all = [
  webhook(21, "Ticket system", { events: ["incident.opened", "incident.resolved"], last_delivery_at: ago(400) }),
  webhook(22, "On-call", {
    format: "alertmanager",
    matchers: [
      { name: "severity", op: "=", value: "critical" },
      { name: "rack", op: "=~", value: "r[1-4]" },
    ],
    group_by: ["rack", "symptom"],
    group_wait_s: 30,
    group_interval_s: 300,
    repeat_interval_s: 14400,
    failing_since: ago(300),
    dead_letters: 3,
  }),
  webhook(23, "Chat", {
    format: "slack",
    matchers: [{ name: "scope", op: "!=", value: "rnic" }],
    enabled: false,
    disabled_reason: "The receiver answered 410 Gone.",
  }),
  webhook(24, "Pager", {
    url: "https://events.pagerduty.com/v2/enqueue",
    format: "pagerduty",
    matchers: [{ name: "severity", op: "=", value: "critical" }],
    credential_fingerprint: "3eb1bd43",
  }),
  webhook(25, "Weekly mail", { url: "mailto:ann@example.org,on-call@example.org", format: "email" }),
];

const body = (event, text) =>
  JSON.stringify({
    type: event,
    timestamp: ago(430),
    data: { id: ID(11), host: "host03", symptom: "S1", severity: "critical", state: "open", summary: text },
  });
const attempt = (seconds, status, error = null) => ({ at: ago(seconds), status, duration_ms: 34, error });
const deliveries = [
  {
    id: ID(31),
    event: "incident.opened",
    about: "S1 on host03 0000:3b:00.0",
    state: "delivered",
    attempts: [attempt(430, 500, "the receiver answered 500"), attempt(420, 200)],
    created_at: ago(430),
    delivered_at: ago(420),
    next_attempt_at: null,
  },
  {
    id: ID(32),
    event: "incident.group",
    about: "14 incidents of rack r2, symptom S6",
    state: "pending",
    attempts: [attempt(20, null, "ConnectError: All connection attempts failed")],
    created_at: ago(21),
    delivered_at: null,
    next_attempt_at: new Date(Date.now() + 15000).toISOString(),
  },
  {
    id: ID(33),
    event: "incident.resolved",
    about: "S8 on rack r4",
    state: "failed",
    attempts: [attempt(9000, 410, "the receiver refused it, so it is not sent again: this channel was archived")],
    created_at: ago(9001),
    delivered_at: null,
    next_attempt_at: null,
  },
].map((each) => ({ ...each, body: body(each.event, each.about) }));

function arrive(delivery) {
  Object.assign(delivery, { state: "pending", next_attempt_at: ago(0) });
  globalThis.setTimeout(
    () =>
      Object.assign(delivery, {
        state: "delivered",
        delivered_at: ago(0),
        next_attempt_at: null,
        attempts: [...delivery.attempts, attempt(0, 204)],
      }),
    1000,
  );
  return delivery;
}

function test() {
  const delivery = {
    id: ID(100 + deliveries.length),
    event: "webhook.test",
    about: "a test",
    attempts: [],
    created_at: ago(0),
    delivered_at: null,
    body: body("webhook.test", "A test, requested by admin."),
  };
  deliveries.unshift(delivery);
  return arrive(delivery);
}

const log = (query) =>
  page(
    deliveries.filter(
      (each) =>
        (!query.get("state") || each.state === query.get("state")) &&
        (!query.get("event") || each.event === query.get("event")) &&
        each.about.toLowerCase().includes((query.get("q") ?? "").toLowerCase()),
    ),
  );
const delivery = (id) => deliveries.find((each) => each.id === id) ?? null;

export const reads = [
  [/^\/webhooks$/, () => page(all)],
  [/^\/webhooks\/[^/]+\/deliveries$/, (_, query) => log(query)],
  [/^\/webhooks\/[^/]+\/deliveries\/([^/]+)$/, ([, id]) => delivery(id)],
];

export const writes = [
  [
    "POST",
    /^\/webhooks$/,
    (_, given) => {
      const { credential, ...rest } = given;
      const made = webhook(50 + all.length, given.name, {
        ...rest,
        credential_fingerprint: credential ? "3eb1bd43" : null,
      });
      all = [...all, made];
      return { ...made, secret: "whsec_bW9jayBzZWNyZXQgb2YgMjQgYnl0ZXM=" };
    },
  ],
  [
    "POST",
    /^\/webhooks\/dead-letters\/replay$/,
    () => {
      const dead = deliveries.filter((each) => each.state === "failed");
      dead.forEach(arrive);
      all.forEach((each) => (each.dead_letters = 0));
      return { replayed: dead.length };
    },
  ],
  ["POST", /^\/webhooks\/[^/]+\/test$/, () => test()],
  [
    "POST",
    /^\/webhooks\/[^/]+\/deliveries\/([^/]+)\/replay$/,
    ([, id]) => {
      const found = delivery(id);
      return found && arrive(found);
    },
  ],
  [
    "PATCH",
    /^\/webhooks\/([^/]+)$/,
    ([, id], given) => {
      const found = all.find((each) => each.id === id);
      return found
        ? Object.assign(found, given, given.enabled && { disabled_reason: null, failing_since: null })
        : null;
    },
  ],
  [
    "DELETE",
    /^\/webhooks\/([^/]+)$/,
    ([, id]) => {
      all = all.filter((each) => each.id !== id);
      return {};
    },
  ],
];
