import type { Delivery } from "@/lib/api/types";
import type { Tone } from "@/lib/ui/StatusMark";

export const TONES: Readonly<Record<Delivery["state"], Tone>> = { pending: "quiet", delivered: "good", failed: "bad" };

/** `HTTP 500 in 12 ms` or the error that came instead of an answer; an e-mail has no status. */
export function attemptText(attempt: Delivery["attempts"][number]): string {
  const what = attempt.status === null ? (attempt.error ?? "accepted by the mail server") : `HTTP ${attempt.status}`;
  return `${what} in ${attempt.duration_ms} ms`;
}

/** What the receiver said beyond its status, as a sentence; null if there is no more to say. */
export function attemptReason({ status, error }: Delivery["attempts"][number]): string | null {
  if (status === null || error === null || error === `the receiver answered ${status}`) return null;
  return `${error.charAt(0).toUpperCase()}${error.slice(1)}.`;
}

/** How far a test has come, in words. */
export function testText(delivery: Pick<Delivery, "state" | "attempts">): string {
  const last = delivery.attempts.at(-1);
  if (!last) return "waiting for the first attempt";
  const tries = delivery.attempts.length === 1 ? "" : `, attempt ${delivery.attempts.length}`;
  const ends: Readonly<Record<Delivery["state"], string>> = {
    delivered: "delivered",
    failed: "failed",
    pending: "not delivered, will be retried",
  };
  const reason = attemptReason(last);
  return `${ends[delivery.state]}: ${attemptText(last)}${tries}${reason === null ? "" : `. ${reason}`}`;
}
