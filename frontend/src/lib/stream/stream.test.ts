import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { toColumns } from "@/testing/columns";
import { indexOf, mergeRows } from "./columns";
import { INITIAL_CONNECTION, reconnectDelay, reduceConnection, SILENCE_MS } from "./connection";
import { EventStream } from "./eventStream";
import { parseMessage } from "./messages";
import { WallStore } from "./wallStore";

describe("merging changed rows", () => {
  it("changes what is known and leaves the rest alone", () => {
    const fleet = toColumns([{ host: "a", headroom: 0.6 }, { host: "b", headroom: 0.7 }]);
    const result = mergeRows(fleet, indexOf(fleet), toColumns([{ host: "b", headroom: 0.1, symptoms: ["S1"], seen_at_ms: 2000 }]));
    expect(fleet.headroom).toEqual([0.6, 0.1]);
    expect(fleet.symptoms).toEqual([[], ["S1"]]);
    expect(result).toEqual({ changed: 1, reshaped: false });
  });

  it("appends a new RNIC and says that the layout changes", () => {
    const fleet = toColumns([{ host: "a" }]);
    expect(mergeRows(fleet, indexOf(fleet), toColumns([{ host: "c" }]))).toEqual({ changed: 1, reshaped: true });
    expect(fleet.host).toEqual(["a", "c"]);
  });

  it("ignores a row that is older than what is known", () => {
    const fleet = toColumns([{ host: "a", headroom: 0.2, seen_at_ms: 5000 }]);
    expect(mergeRows(fleet, indexOf(fleet), toColumns([{ host: "a", headroom: 0.9, seen_at_ms: 4000 }])).changed).toBe(0);
    expect(fleet.headroom).toEqual([0.2]);
  });

  it("takes a row of the same time: a symptom can change between two samples", () => {
    const fleet = toColumns([{ host: "a", seen_at_ms: 5000 }]);
    mergeRows(fleet, indexOf(fleet), toColumns([{ host: "a", seen_at_ms: 5000, symptoms: ["S6"] }]));
    expect(fleet.symptoms).toEqual([["S6"]]);
  });
});

describe("messages", () => {
  it("reads changed rows", () => {
    const message = parseMessage("rnic_state", JSON.stringify(toColumns([{ host: "a" }])));
    expect(message?.kind === "rnic_state" && message.columns.host).toEqual(["a"]);
  });

  it("refuses columns of unequal length, because they would mix RNICs up", () => {
    const broken = { ...toColumns([{ host: "a" }, { host: "b" }]), headroom: [0.1] };
    expect(parseMessage("rnic_state", JSON.stringify(broken))).toBeNull();
  });

  it.each([
    ["rnic_state", "{"],
    ["rnic_state", "[]"],
    ["rnic_state", "{}"],
    ["incident", "null"],
    ["something_new", "{}"],
  ])("survives %s with %s", (event, data) => {
    expect(parseMessage(event, data)).toBeNull();
  });

  it("reads what changed", () => {
    expect(parseMessage("remedy", '{"id":"7","state":"verified"}')).toEqual({ kind: "changed", noun: "remedy", id: "7", state: "verified" });
    expect(parseMessage("resync", "{}")).toEqual({ kind: "resync" });
  });
});

describe("the connection", () => {
  it("counts attempts until a message comes, and keeps the time of the last one", () => {
    let state = reduceConnection(INITIAL_CONNECTION, { kind: "message", at: 10 });
    state = reduceConnection(reduceConnection(state, { kind: "lost" }), { kind: "lost" });
    expect(state).toEqual({ status: "reconnecting", lastMessageAt: 10, attempts: 2 });
    expect(reduceConnection(state, { kind: "opened", at: 20 })).toEqual({ status: "live", lastMessageAt: 20, attempts: 0 });
  });

  it("waits longer after each failure, never longer than a quarter of a minute, and never in step", () => {
    const delays = [1, 2, 3, 4, 5, 20].map((attempt) => reconnectDelay(attempt, 0.999));
    expect([...delays].sort((a, b) => a - b)).toEqual(delays);
    expect(Math.max(...delays)).toBeLessThanOrEqual(15_000);
    expect(reconnectDelay(4, 0)).not.toBe(reconnectDelay(4, 0.9));
  });
});

class FakeSource extends EventTarget {
  onopen: (() => void) | null = null;
  onerror: (() => void) | null = null;
  closed = false;
  close() {
    this.closed = true;
  }
  emit(event: string, data: string) {
    this.dispatchEvent(new MessageEvent(event, { data }));
  }
}

describe("the event stream", () => {
  beforeEach(() => vi.useFakeTimers());
  afterEach(() => vi.useRealTimers());

  function open() {
    const sources: FakeSource[] = [];
    const seen = { messages: [] as unknown[], opens: 0 };
    const stream = new EventStream({
      url: "/stream",
      onMessage: (message) => seen.messages.push(message),
      onOpen: () => seen.opens++,
      open: () => {
        const source = new FakeSource();
        sources.push(source);
        return source as unknown as EventSource;
      },
    });
    stream.start();
    return { stream, sources, seen };
  }

  it("reconnects after an error and asks for a full load again", () => {
    const { stream, sources, seen } = open();
    sources[0]?.onopen?.();
    sources[0]?.onerror?.();
    expect(stream.getState().status).toBe("reconnecting");
    vi.advanceTimersByTime(1000);
    expect(sources).toHaveLength(2);
    sources[1]?.onopen?.();
    expect(seen.opens).toBe(2);
    expect(stream.getState().status).toBe("live");
    stream.stop();
  });

  it("does not trust a silent connection", () => {
    const { stream, sources } = open();
    sources[0]?.onopen?.();
    vi.advanceTimersByTime(SILENCE_MS - 1);
    expect(stream.getState().status).toBe("live");
    vi.advanceTimersByTime(2);
    expect(stream.getState().status).toBe("reconnecting");
    expect(sources[0]?.closed).toBe(true);
    stream.stop();
  });

  it("stays away once it is stopped", () => {
    const { stream, sources } = open();
    sources[0]?.onerror?.();
    stream.stop();
    vi.advanceTimersByTime(60_000);
    expect(sources).toHaveLength(1);
  });

  it("delivers messages and ignores those it can't read", () => {
    const { stream, sources, seen } = open();
    sources[0]?.emit("agent", '{"id":"1","state":"connected"}');
    sources[0]?.emit("agent", "not json");
    expect(seen.messages).toHaveLength(1);
    stream.stop();
  });
});

describe("the store of the fleet", () => {
  it("tells listeners once a frame, however many deltas came", () => {
    const frames: (() => void)[] = [];
    const store = new WallStore((run) => frames.push(run));
    let told = 0;
    store.subscribe(() => told++);
    store.replace(toColumns([{ host: "a" }]), 1);
    store.merge(toColumns([{ host: "a", headroom: 0.1, seen_at_ms: 2000 }]), 2);
    store.merge(toColumns([{ host: "a", headroom: 0.2, seen_at_ms: 3000 }]), 3);
    expect(frames).toHaveLength(1);
    frames[0]?.();
    expect(told).toBe(1);
    expect(store.getState().columns.headroom).toEqual([0.2]);
    expect(store.getState().asOf).toBe(3);
  });

  it("keeps what changed while a load was under way, for the load's answer may be older", () => {
    const store = new WallStore((run) => run());
    store.beginLoad();
    store.merge(toColumns([{ host: "a", headroom: 0.05, seen_at_ms: 9000 }]), 9);
    store.replace(toColumns([{ host: "a", headroom: 0.8, seen_at_ms: 8000 }]), 8);
    expect(store.getState().columns.headroom).toEqual([0.05]);
    store.replace(toColumns([{ host: "a", headroom: 0.7, seen_at_ms: 10_000 }]), 10);
    expect(store.getState().columns.headroom).toEqual([0.7]);
  });

  it("ignores deltas before the first load", () => {
    const store = new WallStore((run) => run());
    store.merge(toColumns([{ host: "a" }]), 1);
    expect(store.getState().asOf).toBeNull();
    expect(store.getState().columns.host).toEqual([]);
  });
});
