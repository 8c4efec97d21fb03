import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, renderHook, waitFor } from "@testing-library/react";
import type { ReactNode } from "react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { CATALOGUE } from "@/testing/catalogue";
import { useIncidentList } from "./useIncidentList";

const FILTERS = {};
let stored: { id: string; seq: number }[];
let client: QueryClient;
let asked: string[];

beforeEach(() => {
  stored = [];
  asked = [];
  client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  client.setQueryData(["catalogue"], CATALOGUE);
  vi.stubGlobal("fetch", (request: Request) => {
    asked.push(new URL(request.url).pathname);
    const changes = request.url.includes("/changes");
    const body = changes ? { items: [], next_since: 9 } : { items: stored, next_cursor: null };
    return Promise.resolve(Response.json(request.url.includes("/session") ? { user: { username: "sre" } } : body));
  });
});
afterEach(() => vi.unstubAllGlobals());

const wrapper = ({ children }: { children: ReactNode }) => (
  <QueryClientProvider client={client}>{children}</QueryClientProvider>
);
const shown = (list: ReturnType<typeof useIncidentList>) => list.rows?.map((row) => row.id);
const pollAgain = () => act(() => client.invalidateQueries({ queryKey: ["incidents"] }));

it("asks for its first page once", async () => {
  stored = [{ id: "a", seq: 1 }];
  const { result } = renderHook(() => useIncidentList(FILTERS), { wrapper });
  await waitFor(() => expect(shown(result.current)).toEqual(["a"]));
  await waitFor(() => expect(asked.some((path) => path.endsWith("/changes"))).toBe(true));
  expect(asked.filter((path) => path.endsWith("/incidents"))).toHaveLength(1);
  await pollAgain();
  await waitFor(() => expect(asked.filter((path) => path.endsWith("/incidents"))).toHaveLength(2));
});

it("shows the first incident of an empty list by itself, and announces those after it", async () => {
  const { result } = renderHook(() => useIncidentList(FILTERS), { wrapper });
  await waitFor(() => expect(shown(result.current)).toEqual([]));
  stored = [{ id: "a", seq: 1 }];
  await pollAgain();
  await waitFor(() => expect(shown(result.current)).toEqual(["a"]));
  expect(result.current.fresh).toBe(0);

  stored = [{ id: "b", seq: 2 }, ...stored];
  await pollAgain();
  await waitFor(() => expect(result.current.fresh).toBe(1));
  expect(shown(result.current)).toEqual(["a"]);
});
