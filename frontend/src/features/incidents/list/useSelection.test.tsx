import { act, renderHook } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { between, useSelection } from "./useSelection";

const SHOWN = ["a", "b", "c", "d"];
const open = (shown = SHOWN) => renderHook(({ rows }) => useSelection(rows), { initialProps: { rows: shown } });

describe("the selection of a list", () => {
  it("takes rows in and out one by one", () => {
    const { result } = open();
    act(() => result.current.toggle("b"));
    act(() => result.current.toggle("d"));
    act(() => result.current.toggle("b"));
    expect([...result.current.ids]).toEqual(["d"]);
  });

  it("extends from the last row to the one clicked with shift, in either direction", () => {
    const { result } = open();
    act(() => result.current.toggle("d"));
    act(() => result.current.toggle("b", true));
    expect([...result.current.ids]).toEqual(["b", "c", "d"]);
    expect(between(SHOWN, "zz", "a")).toEqual(["a"]);
  });

  it("of all that match grows with the list and ends when one is taken out", () => {
    const { result, rerender } = open();
    act(() => result.current.selectAll());
    rerender({ rows: [...SHOWN, "e"] });
    expect([result.current.all, result.current.ids.size]).toEqual([true, 5]);
    act(() => result.current.toggle("e"));
    expect([result.current.all, [...result.current.ids].join("")]).toEqual([false, "abcd"]);
  });

  it("forgets rows that are shown no longer", () => {
    const { result, rerender } = open();
    act(() => result.current.selectShown());
    rerender({ rows: ["c"] });
    expect([...result.current.ids]).toEqual(["c"]);
  });

  it("moves the cursor and stops at both ends", () => {
    const { result } = open();
    const steps: (string | null)[] = [];
    for (const by of [1, 1, 1, 1, 1, -1]) act(() => void steps.push(result.current.move(by)));
    expect(steps.join("")).toBe("abcddc");
  });
});
