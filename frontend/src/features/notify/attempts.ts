import type { Delivery } from "@/lib/api/types";
import type { Tone } from "@/lib/ui/StatusMark";

export const TONES: Readonly<Record<Delivery["state"], Tone>> = { pending: "quiet", delivered: "good", failed: "bad" };

/** `HTTP 500 in 12 ms` or the error that came instead of an answer; an e-mail has no status. */
export function attemptText(attempt: Delivery["attempts"][number]): string {
  const what = attempt.status === null ? (attempt.error ?? "accepted by the mail server") : `HTTP ${attempt.status}`;
  return `${what} in ${attempt.duration_ms} ms`;
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
  return `${ends[delivery.state]}: ${attemptText(last)}${tries}`;
}
