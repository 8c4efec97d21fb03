import { COLUMN_NAMES, type Columns } from "./columns";

export type StreamMessage =
  | { kind: "rnic_state"; columns: Columns; seq: number | null }
  | { kind: "changed"; noun: "incident" | "remedy" | "agent"; id: string; state: string }
  /** So many incidents at once that they are not sent one by one. */
  | { kind: "many"; noun: "incident"; count: number }
  | { kind: "resync" }
  | { kind: "heartbeat" };

function record(value: unknown): Record<string, unknown> | null {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null;
}

/** Columns are taken only whole and of one length: half a delta would paint one RNIC's state on another's tile. */
export function parseColumns(value: unknown): Columns | null {
  const body = record(value);
  if (!body) return null;
  const length = Array.isArray(body["host"]) ? body["host"].length : -1;
  for (const name of COLUMN_NAMES) {
    const column = body[name];
    if (!Array.isArray(column) || column.length !== length) return null;
  }
  return body as unknown as Columns;
}

/** One server-sent event; null for what this version does not know, which is then ignored. The id of changed rows is the fleet's `seq`. */
export function parseMessage(event: string, data: string, id = ""): StreamMessage | null {
  if (event === "heartbeat" || event === "resync") return { kind: event };
  let body: Record<string, unknown> | null;
  try {
    body = record(JSON.parse(data));
  } catch {
    return null;
  }
  if (!body) return null;
  if (event === "rnic_state") {
    const columns = parseColumns(body);
    return columns ? { kind: "rnic_state", columns, seq: /^\d+$/.test(id) ? Number(id) : null } : null;
  }
  if (event === "incident" || event === "remedy" || event === "agent") {
    return { kind: "changed", noun: event, id: String(body["id"] ?? ""), state: String(body["state"] ?? "") };
  }
  if (event === "incidents")
    return { kind: "many", noun: "incident", count: typeof body["count"] === "number" ? body["count"] : 0 };
  return null;
}

export const STREAM_EVENTS = ["rnic_state", "incident", "incidents", "remedy", "agent", "resync", "heartbeat"] as const;
