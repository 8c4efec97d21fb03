import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { atMostEvery } from "./soon";

describe("a call at most every second", () => {
  beforeEach(() => vi.useFakeTimers());
  afterEach(() => vi.useRealTimers());

  it("runs the first at once, the storm after it as one, and then at once again", () => {
    const run = vi.fn();
    const call = atMostEvery(1000, run);
    call("a");
    expect(run).toHaveBeenCalledTimes(1);
    for (let i = 0; i < 50; i++) call("a");
    expect(run).toHaveBeenCalledTimes(1);
    vi.advanceTimersByTime(1000);
    expect(run).toHaveBeenCalledTimes(2);
    vi.advanceTimersByTime(5000);
    expect(run).toHaveBeenCalledTimes(2);
    call("a");
    expect(run).toHaveBeenCalledTimes(3);
  });

  it("keeps keys apart", () => {
    const run = vi.fn();
    const call = atMostEvery(1000, run);
    call("a");
    call("b");
    expect(run.mock.calls).toEqual([["a"], ["b"]]);
  });
});
