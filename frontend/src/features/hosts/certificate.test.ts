import { describe, expect, it } from "vitest";
import { certificateState } from "./certificate";

const DAY = 86_400_000;
const begin = Date.UTC(2026, 10, 21);
const at = (days: number) => new Date(begin + days * DAY).toISOString();
const certificate = { expires_at: at(8), renews_at: at(4), late_at: at(6) };

describe("the expiry of an agent's certificate", () => {
  it.each([
    [1, true, null, "expires in 7 days", null],
    [5, false, null, "expires in 3 days", null],
    [7, true, "warn", "expires in 24 h", "Renewal failed: see the agent's log."],
    [7, false, "warn", "expires in 24 h", "Certificates renew only while the agent is connected."],
    [8, false, "bad", "expired 0 s ago", "Enrol this agent again."],
    [11, true, "bad", "expired 3 days ago", "Enrol this agent again."],
  ])("after %s days, connected %s", (days, connected, tone, text, todo) => {
    expect(certificateState(certificate, connected, begin + days * DAY)).toEqual({ tone, text, todo });
  });

  it("is no warning where there is none", () => {
    expect(certificateState(null, true, begin).tone).toBe("quiet");
  });
});
