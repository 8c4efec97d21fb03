import { describe, expect, it } from "vitest";
import type { Rollout } from "@/lib/api/types";
import { waveText } from "./rolloutText";

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
    expect(waveText(targets, index)).toBe(text);
  });
});
