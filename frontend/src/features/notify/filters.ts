/** What the webhooks page shows, as it stands in the URL: the webhook whose log is open, and the log's filters. */
export interface LogFilters {
  webhook?: string;
  state?: DeliveryState;
  event?: string;
  q?: string;
}

export const DELIVERY_STATES = ["pending", "delivered", "failed"] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** Has the form of an event, such as `remedy.failed`; which ones there are the catalogue says. */
const EVENT = /^[a-z]+\.[a-z_]+$/;

function text(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() ? value.trim() : undefined;
}

export function parseLogFilters(search: Record<string, unknown>): LogFilters {
  const filters: LogFilters = {};
  const webhook = text(search["webhook"]);
  if (webhook) filters.webhook = webhook;
  const state = DELIVERY_STATES.find((name) => name === search["state"]);
  if (state) filters.state = state;
  const event = text(search["event"]);
  if (event && EVENT.test(event)) filters.event = event;
  const q = text(search["q"]);
  if (q) filters.q = q;
  return filters;
}
