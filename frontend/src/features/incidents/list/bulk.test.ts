import { describe, expect, it } from "vitest";
import { outcomeText, undoOf } from "./bulk";

const row = (id: string, state: "open" | "resolved" = "open", assignee: string | null = null) => ({
  id,
  state,
  assignee,
  acknowledged_by: null as string | null,
});

describe("the message of a bulk action", () => {
  it("counts what was done", () => {
    expect(outcomeText("acknowledge", { changed: 1, skipped: [] })).toBe("1 incident acknowledged");
  });

  it("says what was skipped and why", () => {
    expect(
      outcomeText("resolve", {
        changed: 1200,
        skipped: [
          { id: "a", why: "is resolved" },
          { id: "b", why: "is resolved" },
          { id: "c", why: "is gone" },
        ],
      }),
    ).toBe("1,200 incidents resolved; 3 skipped: is resolved (2), is gone (1)");
  });
});

describe("undo of a bulk action", () => {
  it("reopens only what the action resolved", () => {
    expect(undoOf("resolve", [row("a"), row("b", "resolved")])).toEqual({ ids: ["a"], action: "reopen" });
    expect(undoOf("resolve", [row("b", "resolved")])).toBeNull();
  });

  it("undoes only acknowledgements that are new", () => {
    const taken = { ...row("b"), acknowledged_by: "dana" };
    expect(undoOf("acknowledge", [row("a"), taken, row("c", "resolved")])).toEqual({
      ids: ["a"],
      action: "unacknowledge",
    });
    expect(undoOf("acknowledge", [taken])).toBeNull();
  });

  it("restores the former assignee only where all had the same", () => {
    expect(undoOf("assign", [row("a", "open", "dana"), row("b", "open", "dana")])).toEqual({
      ids: ["a", "b"],
      action: "assign",
      assignee: "dana",
    });
    expect(undoOf("assign", [row("a", "open", "dana"), row("b")])).toBeNull();
  });

  it("has nothing for a comment", () => {
    expect(undoOf("comment", [row("a")])).toBeNull();
  });
});
