/** How fresh the page is: from the stream's own heartbeat, not from hope. */
export type ConnectionStatus = "connecting" | "live" | "reconnecting" | "signed_out";

export interface Connection {
  status: ConnectionStatus;
  /** Time of the last message of any kind, milliseconds since the epoch; null before the first. */
  lastMessageAt: number | null;
  /** Failed attempts since the last success. */
  attempts: number;
}

export type ConnectionEvent =
  { kind: "opened"; at: number } | { kind: "message"; at: number } | { kind: "lost" } | { kind: "signed_out" };

export const INITIAL_CONNECTION: Connection = { status: "connecting", lastMessageAt: null, attempts: 0 };

export function reduceConnection(state: Connection, event: ConnectionEvent): Connection {
  switch (event.kind) {
    case "opened":
    case "message":
      return { status: "live", lastMessageAt: event.at, attempts: 0 };
    case "lost":
      return { ...state, status: "reconnecting", attempts: state.attempts + 1 };
    case "signed_out":
      return { ...state, status: "signed_out" };
  }
}

const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 15_000;

/** Exponential backoff with full jitter: a fleet of browsers must not return in step. `random` is in [0, 1). */
export function reconnectDelay(attempts: number, random: number): number {
  const ceiling = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.max(0, attempts - 1));
  return Math.round(ceiling / 2 + (ceiling / 2) * random);
}

/** Without a message for this long the connection is held to be dead, whatever the socket says. The heartbeat is far more frequent. */
export const SILENCE_MS = 30_000;
