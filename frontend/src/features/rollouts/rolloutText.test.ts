import { describe, expect, it } from "vitest";
import type { Rollout } from "@/lib/api/types";
import { STATES } from "@/testing/catalogue";
import { messageText, waveText } from "./rolloutText";

type Wave = Rollout["waves"][number];

function wave(...states: Wave[number]["state"][]): Wave {
  return states.map((state, i) => ({
    host: `h${i}`,
    pci: null,
    remedy_id: null,
    state,
    message: null,
    undo_state: null,
    undo_message: null,
  }));
}

describe("a wave in words", () => {
  it.each([
    [wave("confirmed"), 0, "Canary: 1 of 1 confirmed"],
    [wave("confirmed", "verifying", null), 1, "Wave 2: 1 of 3 confirmed"],
    [wave("not_confirmed", "failed", "confirmed"), 2, "Wave 3: 1 of 3 confirmed, 2 failed"],
    [wave("undone"), 0, "Canary: 0 of 1 confirmed, 1 undone"],
  ])("%j", (targets, index, text) => {
    expect(waveText(STATES.remedy, targets, index)).toBe(text);
  });
});

describe("what holds a rollout up", () => {
  const undo = { by: "dana", reason: "worse" } as Rollout["undo"];
  it.each([
    ["running", null, null, null],
    ["paused", null, "Paused by dana.", "Paused by dana."],
    ["stopped", null, "h2 is not confirmed", "Stopped: h2 is not confirmed"],
    ["rejected", null, "no window", null],
    ["undoing", undo, "h2 is not confirmed", "Before the rollback: h2 is not confirmed"],
    ["undone", undo, "Paused by dana.", "Before the rollback: Paused by dana."],
    ["undoing", undo, null, null],
  ] as const)("%s", (state, requested, message, text) => {
    const decision_comment = state === "rejected" ? "no window" : null;
    expect(messageText({ state, undo: requested, message, decision_comment })).toBe(text);
  });
});
