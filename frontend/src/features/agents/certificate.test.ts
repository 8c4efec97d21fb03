import { describe, expect, it } from "vitest";
import { certificateState } from "./certificate";

const DAY = 86_400_000;
const begin = Date.UTC(2026, 10, 21);
const at = (days: number) => new Date(begin + days * DAY).toISOString();
const certificate = { expires_at: at(8), renews_at: at(4), late_at: at(6) };

describe("the end of an agent's certificate", () => {
  it.each([
    [1, true, null, "ends in 7 days", null],
    [5, false, null, "ends in 3 days", null],
    [7, true, "warn", "ends in 24 h", "It was not renewed: see the agent's log."],
    [7, false, "warn", "ends in 24 h", "It renews itself only while connected."],
    [8, false, "bad", "ended 0 s ago", "Enrol this agent again."],
    [11, true, "bad", "ended 3 days ago", "Enrol this agent again."],
  ])("after %s days, connected %s", (days, connected, tone, text, todo) => {
    expect(certificateState(certificate, connected, begin + days * DAY)).toEqual({ tone, text, todo });
  });

  it("is no warning where there is none", () => {
    expect(certificateState(null, true, begin).tone).toBe("quiet");
  });
});
