import { describe, expect, it } from "vitest";
import { latestSeq, patched, unseen } from "./liveList";

const rows = (...ids: string[]) => ids.map((id, i) => ({ id, seq: i + 1 }));
const names = (found: readonly { id: string }[]) => found.map((row) => row.id).join("");

describe("a list that stays still", () => {
  it("announces rows that came before those it shows", () => {
    expect(names(unseen(rows("c", "d", "e"), rows("a", "b", "c", "d"), false))).toBe("ab");
  });

  it("does not call new what moved up because others left", () => {
    expect(names(unseen(rows("a", "b", "c"), rows("b", "c", "d", "e"), false))).toBe("");
  });

  it("calls anything new that it lacks once it shows the whole list", () => {
    expect(names(unseen(rows("a", "b"), rows("a", "b", "x"), true))).toBe("x");
    expect(names(unseen([], rows("x"), true))).toBe("x");
  });

  it("is pushed down whole by a storm", () => {
    expect(names(unseen(rows("y", "z"), rows("a", "b"), false))).toBe("ab");
  });

  it("takes changes in place and ignores older ones and those of others", () => {
    const data = {
      pages: [
        {
          items: [
            { id: "a", seq: 5 },
            { id: "b", seq: 2 },
          ],
        },
        { items: [{ id: "c", seq: 9 }] },
      ],
      pageParams: [null, "x"],
    };
    const next = patched(data, [
      { id: "b", seq: 10 },
      { id: "a", seq: 4 },
      { id: "q", seq: 11 },
    ]);
    expect(next?.pages.flatMap((page) => page.items)).toEqual([
      { id: "a", seq: 5 },
      { id: "b", seq: 10 },
      { id: "c", seq: 9 },
    ]);
    expect(next?.pages[1]).toBe(data.pages[1]);
    expect(patched(data, [{ id: "q", seq: 11 }])).toBeNull();
  });

  it("knows the newest change it has", () => {
    expect([latestSeq(rows("a", "b")), latestSeq([])]).toEqual([2, 0]);
  });
});
