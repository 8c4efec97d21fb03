import { describe, expect, it } from "vitest";
import { attemptReason, attemptText, testText } from "./attempts";

const attempt = (status: number | null, error: string | null = null) => ({
  at: "2026-11-21T03:00:00Z",
  status,
  duration_ms: 12,
  error,
});

describe("an attempt to deliver, in words", () => {
  it("distinguishes an answer from no answer", () => {
    expect(attemptText(attempt(500, "the receiver answered 500"))).toBe("HTTP 500 in 12 ms");
    expect(attemptText(attempt(null, "ConnectError: refused"))).toBe("ConnectError: refused in 12 ms");
  });

  it("shows what the receiver said, and nothing twice", () => {
    expect(attemptReason(attempt(503, "the receiver answered 503"))).toBeNull();
    expect(attemptReason(attempt(null, "ConnectError: refused"))).toBeNull();
    expect(attemptReason(attempt(204))).toBeNull();
    expect(attemptReason(attempt(429, "the receiver answered 429: slow down"))).toBe(
      "The receiver answered 429: slow down.",
    );
  });

  it("says how far a test has come", () => {
    expect(testText({ state: "pending", attempts: [] })).toBe("waiting for the first attempt");
    expect(testText({ state: "pending", attempts: [attempt(503)] })).toBe(
      "not delivered, will be retried: HTTP 503 in 12 ms",
    );
    expect(testText({ state: "delivered", attempts: [attempt(503), attempt(204)] })).toBe(
      "delivered: HTTP 204 in 12 ms, attempt 2",
    );
    expect(testText({ state: "failed", attempts: [attempt(410)] })).toBe("failed: HTTP 410 in 12 ms");
    expect(
      testText({
        state: "failed",
        attempts: [attempt(400, "the receiver refused it, so it is not sent again: no such severity")],
      }),
    ).toBe("failed: HTTP 400 in 12 ms. The receiver refused it, so it is not sent again: no such severity.");
  });
});
