import { ORDER_EVENTS } from "./events";

/** What the webhooks page shows, as it stands in the URL: the webhook whose log is open, and the log's filters. */
export interface LogFilters {
  webhook?: string;
  state?: DeliveryState;
  event?: string;
  q?: string;
}

export const DELIVERY_STATES = ["pending", "delivered", "failed"] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

export const LOG_EVENTS: readonly { value: string; label: string }[] = [
  { value: "incident.opened", label: "incident opened" },
  { value: "incident.updated", label: "incident changed" },
  { value: "incident.resolved", label: "incident resolved" },
  { value: "incident.repeated", label: "repetition" },
  { value: "incident.group", label: "group" },
  ...ORDER_EVENTS,
  { value: "webhook.test", label: "test" },
];

function text(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() ? value.trim() : undefined;
}

export function parseLogFilters(search: Record<string, unknown>): LogFilters {
  const filters: LogFilters = {};
  const webhook = text(search["webhook"]);
  if (webhook) filters.webhook = webhook;
  const state = DELIVERY_STATES.find((name) => name === search["state"]);
  if (state) filters.state = state;
  const event = LOG_EVENTS.find(({ value }) => value === search["event"])?.value;
  if (event) filters.event = event;
  const q = text(search["q"]);
  if (q) filters.q = q;
  return filters;
}
