import { QueryClient, QueryClientProvider, useQuery } from "@tanstack/react-query";
import { act, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { toColumns } from "@/testing/columns";
import { LiveProvider, useConnection } from "./LiveContext";
import { useFleet } from "./useFleet";

class FakeSource extends EventTarget {
  static readonly all: FakeSource[] = [];
  onopen: (() => void) | null = null;
  onerror: (() => void) | null = null;
  readonly close = vi.fn();
  constructor(readonly url: string) {
    super();
    FakeSource.all.push(this);
  }
  static get last(): FakeSource {
    const source = FakeSource.all.at(-1);
    if (!source) throw new Error("No stream was opened.");
    return source;
  }
  emit(event: string, data: unknown, lastEventId = "") {
    this.dispatchEvent(new MessageEvent(event, { data: JSON.stringify(data), lastEventId }));
  }
}

const asked = { fleet: 0, incidents: 0 };

function Page() {
  const { state } = useFleet();
  useQuery({ queryKey: ["incidents"], queryFn: () => Promise.resolve(++asked.incidents), staleTime: Infinity });
  return (
    <p>
      {useConnection().status}: {state.columns.host.map((host, i) => `${host} ${state.columns.headroom[i]}`).join()}
    </p>
  );
}

const quiet = globalThis.EventSource;

beforeEach(() => {
  FakeSource.all.length = 0;
  Object.assign(asked, { fleet: 0, incidents: 0 });
  vi.stubGlobal("EventSource", FakeSource);
  vi.spyOn(globalThis, "fetch").mockImplementation(() => {
    asked.fleet++;
    return Promise.resolve(
      Response.json({
        as_of: "2026-11-21T03:00:00Z",
        seq: 40,
        stale_after_s: 45,
        columns: toColumns([{ host: "a", headroom: 0.6 }]),
      }),
    );
  });
});
afterEach(() => {
  vi.restoreAllMocks();
  // Other files share this global.
  vi.stubGlobal("EventSource", quiet);
});

async function show() {
  render(
    <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
      <LiveProvider>
        <Page />
      </LiveProvider>
    </QueryClientProvider>,
  );
  await vi.waitFor(() => expect(FakeSource.last.url).toBe("/api/v1/stream?after=40"));
  act(() => FakeSource.last.onopen?.());
  await screen.findByText("live: a 0.6");
}

describe("the live fleet", () => {
  it("is loaded once, and the stream begins at the change up to which it was complete", async () => {
    await show();
    expect(asked).toEqual({ fleet: 1, incidents: 1 });
  });

  it("misses nothing after a lost connection: RNICs come from the last known change on, the rest is fetched again", async () => {
    await show();
    act(() => FakeSource.last.emit("rnic_state", toColumns([{ host: "a", headroom: 0.3, seen_at_ms: 2000 }]), "43"));
    await screen.findByText("live: a 0.3");
    act(() => FakeSource.last.onerror?.());
    expect(screen.getByText("reconnecting: a 0.3")).toBeInTheDocument();
    await vi.waitFor(() => expect(FakeSource.last.url).toBe("/api/v1/stream?after=43"), { timeout: 5000 });
    act(() => {
      FakeSource.last.onopen?.();
      FakeSource.last.emit("rnic_state", toColumns([{ host: "a", headroom: -0.1, seen_at_ms: 3000 }]), "50");
    });
    await screen.findByText("live: a -0.1");
    await vi.waitFor(() => expect(asked).toEqual({ fleet: 1, incidents: 2 }));
  });

  it("is loaded again, with all that is shown, when the server says that changes were lost", async () => {
    await show();
    act(() => FakeSource.last.emit("resync", {}));
    await vi.waitFor(() => expect(asked).toEqual({ fleet: 2, incidents: 2 }));
  });
});
