import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type Row, toColumns } from "@/testing/columns";
import { indexOf, mergeRows } from "./columns";
import { INITIAL_CONNECTION, reconnectDelay, reduceConnection, SILENCE_MS } from "./connection";
import { EventStream } from "./eventStream";
import { FleetStore } from "./fleetStore";
import { parseMessage } from "./messages";

describe("merging changed rows", () => {
  it("changes what is known and leaves the rest alone", () => {
    const fleet = toColumns([
      { host: "a", headroom: 0.6 },
      { host: "b", headroom: 0.7 },
    ]);
    const result = mergeRows(
      fleet,
      indexOf(fleet),
      toColumns([{ host: "b", headroom: 0.1, symptoms: ["S1"], seen_at_ms: 2000 }]),
    );
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
    expect(mergeRows(fleet, indexOf(fleet), toColumns([{ host: "a", headroom: 0.9, seen_at_ms: 4000 }])).changed).toBe(
      0,
    );
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
    const message = parseMessage("rnic_state", JSON.stringify(toColumns([{ host: "a" }])), "41");
    expect(message).toMatchObject({ kind: "rnic_state", columns: { host: ["a"] }, seq: 41 });
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
    expect(parseMessage("remedy", '{"id":"7","state":"confirmed"}')).toEqual({
      kind: "changed",
      noun: "remedy",
      id: "7",
      state: "confirmed",
    });
    expect(parseMessage("incidents", '{"count":15000}')).toEqual({ kind: "many", noun: "incident", count: 15_000 });
    expect(parseMessage("resync", "{}")).toEqual({ kind: "resync" });
  });
});

describe("the connection", () => {
  it("counts attempts until a message comes, and keeps the time of the last one", () => {
    let state = reduceConnection(INITIAL_CONNECTION, { kind: "message", at: 10 });
    state = reduceConnection(reduceConnection(state, { kind: "lost" }), { kind: "lost" });
    expect(state).toEqual({ status: "reconnecting", lastMessageAt: 10, attempts: 2 });
    expect(reduceConnection(state, { kind: "opened", at: 20 })).toEqual({
      status: "live",
      lastMessageAt: 20,
      attempts: 0,
    });
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
    const urls: string[] = [];
    const seen = { messages: [] as unknown[], recovered: [] as boolean[], known: null as number | null };
    const stream = new EventStream({
      url: "/stream",
      onMessage: (message) => seen.messages.push(message),
      after: () => seen.known,
      onRecovered: (resumed) => seen.recovered.push(resumed),
      open: (url) => {
        urls.push(url);
        const source = new FakeSource();
        sources.push(source);
        return source as unknown as EventSource;
      },
    });
    stream.start();
    return { stream, sources, urls, seen };
  }

  it("reconnects after an error and goes on from the last change that is known", () => {
    const { stream, sources, urls, seen } = open();
    sources[0]?.onopen?.();
    expect(seen.recovered).toEqual([]);
    sources[0]?.onerror?.();
    expect(stream.getState().status).toBe("reconnecting");
    seen.known = 41;
    vi.advanceTimersByTime(1000);
    expect(urls).toEqual(["/stream", "/stream?after=41"]);
    sources[1]?.onopen?.();
    expect(seen.recovered).toEqual([true]);
    expect(stream.getState().status).toBe("live");
    stream.stop();
  });

  it("says that nothing was resumed when no change was known", () => {
    const { stream, sources, seen } = open();
    sources[0]?.onerror?.();
    vi.advanceTimersByTime(1000);
    sources[1]?.onopen?.();
    expect(seen.recovered).toEqual([false]);
    stream.stop();
  });

  it("begins again, once and in silence, when the fleet became known after it was opened", () => {
    const { stream, sources, urls, seen } = open();
    sources[0]?.onopen?.();
    seen.known = 7;
    stream.catchUp();
    stream.catchUp();
    expect(urls).toEqual(["/stream", "/stream?after=7"]);
    expect(sources[0]?.closed).toBe(true);
    expect(stream.getState().status).toBe("live");
    sources[1]?.onopen?.();
    expect(seen.recovered).toEqual([]);
    stream.stop();
    stream.catchUp();
    expect(sources).toHaveLength(2);
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

const NOW = Date.parse("2026-11-21T03:00:00Z");
const answer = (rows: readonly Row[], seq: number) => () =>
  Promise.resolve({ as_of: "2026-11-21T03:00:00Z", seq, stale_after_s: 45, columns: toColumns(rows) });

describe("the store of the fleet", () => {
  it("notifies listeners once per frame, however many deltas came", async () => {
    const frames: (() => void)[] = [];
    const store = new FleetStore((run) => frames.push(run));
    let notified = 0;
    store.subscribe(() => notified++);
    await store.load(answer([{ host: "a" }], 1));
    store.merge(toColumns([{ host: "a", headroom: 0.1, seen_at_ms: 2000 }]), NOW, 2);
    store.merge(toColumns([{ host: "a", headroom: 0.2, seen_at_ms: 3000 }]), NOW + 1, 3);
    expect(frames).toHaveLength(1);
    frames[0]?.();
    expect(notified).toBe(1);
    expect(store.getState().columns.headroom).toEqual([0.2]);
    expect(store.getState().asOf).toBe(NOW + 1);
    expect(store.seq).toBe(3);
  });

  it("keeps what changed while a load was under way, for the load's answer may be older", async () => {
    const store = new FleetStore((run) => run());
    await store.load(async () => {
      store.merge(toColumns([{ host: "a", headroom: 0.05, seen_at_ms: 9000 }]), NOW, 9);
      return answer([{ host: "a", headroom: 0.8, seen_at_ms: 8000 }], 8)();
    });
    expect(store.getState().columns.headroom).toEqual([0.05]);
    await store.load(answer([{ host: "a", headroom: 0.7, seen_at_ms: 10_000 }], 10));
    expect(store.getState().columns.headroom).toEqual([0.7]);
  });

  it("keeps the fleet and what it knows of it when a load fails", async () => {
    const store = new FleetStore((run) => run());
    await store.load(answer([{ host: "a" }], 4));
    await expect(store.load(() => Promise.reject(new Error("no answer")))).rejects.toThrow("no answer");
    expect(store.getState().columns.host).toEqual(["a"]);
    expect(store.seq).toBe(4);
  });

  it("knows no change to go on from once changes were lost, until it is loaded again", async () => {
    const store = new FleetStore((run) => run());
    await store.load(answer([{ host: "a" }], 4));
    store.changesLost();
    store.merge(toColumns([{ host: "a", seen_at_ms: 9000 }]), NOW, 12);
    expect(store.seq).toBeNull();
    await store.load(answer([{ host: "a" }], 12));
    expect(store.seq).toBe(12);
  });

  it("ignores deltas before the first load", () => {
    const store = new FleetStore((run) => run());
    store.merge(toColumns([{ host: "a" }]), NOW, 1);
    expect(store.getState().asOf).toBeNull();
    expect(store.getState().columns.host).toEqual([]);
  });
});
