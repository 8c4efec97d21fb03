import { describe, expect, it } from "vitest";
import type { Rollout } from "@/lib/api/types";
import { waveText } from "./rollout";

type Wave = Rollout["waves"][number];

function wave(...states: Wave[number]["state"][]): Wave {
  return states.map((state, i) => ({ host: `h${i}`, pci: null, remedy_id: null, state, message: null, undo_state: null, undo_message: null }));
}

describe("a wave in words", () => {
  it.each([
    [wave("verified"), 0, "Canary: 1 of 1 verified"],
    [wave("verified", "applied", null), 1, "Wave 2: 1 of 3 verified"],
    [wave("not_verified", "failed", "verified"), 2, "Wave 3: 1 of 3 verified, 2 did not work"],
    [wave("undone"), 0, "Canary: 0 of 1 verified, 1 undone"],
  ])("%j", (targets, index, text) => {
    expect(waveText(targets, index)).toBe(text);
  });
});
