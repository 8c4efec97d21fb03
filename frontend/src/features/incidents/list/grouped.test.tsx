import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, renderHook, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { IncidentGroup } from "@/lib/api/types";
import { CATALOGUE } from "@/testing/catalogue";
import { renderPage } from "@/testing/render";
import type { IncidentFilters } from "../filters/filters";
import { IncidentTable } from "./IncidentTable";
import { incidentsOf } from "./groups";
import { useGroupedList } from "./useGroupedList";
import { useSelection } from "./useSelection";

const ROW = {
  pci: "0000:3b:00.0",
  rack: "r1",
  symptom: "S1",
  symptoms: ["S1"],
  state: "open",
  severity: "warning",
  opened_at: "2026-11-21T03:00:00Z",
  updated_at: "2026-11-21T03:00:00Z",
  active: true,
  scope: "rnic",
  hosts: [],
  seq: 1,
  inhibited_by: null,
  cause: null,
  assignee: null,
};
const group = (value: string, incidents: number, critical = 0): IncidentGroup => ({
  value,
  incidents,
  critical,
  newest: "2026-11-21T03:00:00Z",
});
let groups: IncidentGroup[];
let asked: URLSearchParams[];

function rows(group: string | null, limit: number) {
  const count = groups.find(({ value }) => value === group)?.incidents ?? 0;
  return Array.from({ length: Math.min(count, limit) }, (_, i) => ({
    ...ROW,
    id: `${group}-${i}`,
    title: `Incident ${i} of ${group === "" ? "several" : group}`,
    subject: group,
    host: group,
  }));
}

beforeEach(() => {
  asked = [];
  groups = [];
  // What jsdom does not measure: a window of twenty rows.
  vi.spyOn(Element.prototype, "clientHeight", "get").mockReturnValue(20 * 49);
  vi.spyOn(HTMLElement.prototype, "offsetHeight", "get").mockReturnValue(49);
  vi.spyOn(globalThis, "fetch").mockImplementation((input) => {
    const url = new URL((input as Request).url);
    if (url.pathname.endsWith("/groups")) return Promise.resolve(Response.json({ items: groups, more: false }));
    if (url.pathname.endsWith("/session")) return Promise.resolve(Response.json({ user: { username: "sre" } }));
    asked.push(url.searchParams);
    const items = rows(url.searchParams.get("group"), Number(url.searchParams.get("limit")));
    return Promise.resolve(Response.json({ items, next_cursor: null }));
  });
});
afterEach(() => vi.restoreAllMocks());

const FILTERS: IncidentFilters = { group: "host", severity: "warning" };

function List() {
  const grouped = useGroupedList(FILTERS);
  const items = grouped.items ?? [];
  const selection = useSelection(incidentsOf(items).map(({ id }) => id));
  const [moved] = useState(null);
  return (
    <main>
      <IncidentTable
        items={items}
        filters={FILTERS}
        selection={selection}
        total={121}
        moved={moved}
        onSort={() => undefined}
        onNearEnd={() => undefined}
        onOpenGroup={grouped.setOpen}
        onMoreOfGroup={grouped.showMore}
      />
    </main>
  );
}

const shown = () => document.querySelectorAll("tr[data-incident]").length;

it("shows groups with their counts, opens and closes them, and has what lies in between for the keyboard", async () => {
  groups = [group("host01", 3, 2), group("", 1)];
  renderPage(<List />);
  const head = await screen.findByRole("button", { name: /host01.*3 incidents.*2 critical/ });
  await screen.findByText("Incident 2 of host01");
  await screen.findByText("Incident 0 of several");
  expect(head).toHaveAttribute("aria-expanded", "true");
  expect(shown()).toBe(4);
  expect(Object.fromEntries(asked[0] ?? [])).toMatchObject({ group_by: "host", group: "host01", severity: "warning" });
  expect(asked[1]?.get("group")).toBe("");

  await userEvent.click(head);
  expect(head).toHaveAttribute("aria-expanded", "false");
  expect(shown()).toBe(1);
  await userEvent.click(screen.getByRole("button", { name: /Several hosts.*1 incident/ }));
  expect(shown()).toBe(0);
});

it("loads the first rows of a large group, and more of them when asked", async () => {
  groups = [group("host01", 120), group("host02", 1)];
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  client.setQueryData(["catalogue"], CATALOGUE);
  const { result } = renderHook(() => useGroupedList(FILTERS), {
    wrapper: ({ children }) => <QueryClientProvider client={client}>{children}</QueryClientProvider>,
  });
  const lines = () => (result.current.items ?? []).map((item) => (item.kind === "row" ? "row" : item.kind));
  await waitFor(() => expect(lines().filter((kind) => kind === "row")).toHaveLength(100));
  expect(result.current.items?.at(-2)).toMatchObject({ kind: "rest", count: 20, loading: false });
  expect(result.current.items?.at(-1)).toMatchObject({ kind: "head", open: false });

  act(() => result.current.showMore("host01"));
  await waitFor(() => expect(lines().filter((kind) => kind === "row")).toHaveLength(120));
  expect(lines()).not.toContain("rest");
  act(() => result.current.setAllOpen(true));
  await waitFor(() => expect(lines().filter((kind) => kind === "row")).toHaveLength(121));
});
