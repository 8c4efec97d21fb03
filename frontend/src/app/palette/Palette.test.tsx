import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { createMemoryHistory, createRootRoute, createRouter, RouterContextProvider } from "@tanstack/react-router";
import { render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { serve } from "@/testing/server";
import { RECENT_KEY } from "./entries";
import { Palette } from "./Palette";

const NOTHING = { hosts: [], rnics: [], pods: [] };
const RNIC = { host: "host36", pci: "0000:3b:00.0", rack: "r1", model: "CX-6", symptoms: [] };

beforeEach(() => {
  localStorage.removeItem(RECENT_KEY);
});
afterEach(() => {
  vi.restoreAllMocks();
  localStorage.removeItem(RECENT_KEY);
});

function open() {
  const history = createMemoryHistory();
  const onClose = vi.fn<() => void>();
  const onHelp = vi.fn<() => void>();
  const router = createRouter({ routeTree: createRootRoute(), history });
  render(
    <MantineProvider env="test">
      <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
        <RouterContextProvider router={router as never}>
          <Palette onClose={onClose} onHelp={onHelp} />
        </RouterContextProvider>
      </QueryClientProvider>
    </MantineProvider>,
  );
  return { history, onClose, onHelp, field: screen.getByRole("combobox", { name: "Search" }) };
}

const chosen = () => screen.getByRole("option", { selected: true });

test("arrows move the choice, which the field names to screen readers", async () => {
  serve({});
  const user = userEvent.setup();
  const { field } = open();
  expect(screen.getByRole("dialog")).toHaveAccessibleName("Search and go to");
  expect(chosen()).toHaveTextContent("Fleet");
  await user.type(field, "{ArrowDown}");
  expect(chosen()).toHaveTextContent("Incidents");
  expect(field).toHaveAttribute("aria-activedescendant", chosen().id);
  await user.type(field, "{ArrowUp}{ArrowUp}");
  expect(chosen()).toHaveTextContent("Sign out");
});

test("an RNIC that the server finds opens, and is offered first the next time", async () => {
  serve({ "GET /search": { ...NOTHING, rnics: [RNIC] }, "GET /incidents": { items: [], next_cursor: null } });
  const user = userEvent.setup();
  const first = open();
  await user.type(first.field, "host36");
  await user.click(await screen.findByRole("option", { name: /host36 0000:3b:00\.0/ }));
  expect(first.history.location.pathname).toBe("/rnics/host36/0000%3A3b%3A00.0");
  expect(first.onClose).toHaveBeenCalledOnce();
  expect(localStorage.getItem(RECENT_KEY)).toContain("host36");
});

test("Enter before the answer opens the first result when it is there", async () => {
  let answer: (found: unknown) => void = () => undefined;
  const asked = serve({
    // What is typed may be asked for in parts on a slow machine.
    "GET /search": ({ query }: { query: URLSearchParams }) =>
      query.get("q") === "host36" ? new Promise((resolve) => (answer = resolve)) : NOTHING,
    "GET /incidents": { items: [], next_cursor: null },
  });
  const user = userEvent.setup();
  const { field, history, onClose } = open();
  await user.type(field, "host36{Enter}");
  await waitFor(() =>
    expect(asked.filter(({ path, query }) => path === "/search" && query.get("q") === "host36")).toHaveLength(1),
  );
  expect(onClose).not.toHaveBeenCalled();
  answer({ ...NOTHING, rnics: [RNIC] });
  await waitFor(() => expect(history.location.pathname).toBe("/rnics/host36/0000%3A3b%3A00.0"));
});

test("an action runs, and what matches nothing is said", async () => {
  serve({ "GET /search": NOTHING, "GET /incidents": { items: [], next_cursor: null } });
  const user = userEvent.setup();
  const { field, onHelp } = open();
  await user.type(field, "zzz");
  expect(await screen.findByText("Nothing matches “zzz”.")).toBeVisible();
  await user.clear(field);
  await user.type(field, "keyboard");
  await screen.findByRole("option", { name: /Keyboard shortcuts/ });
  await user.keyboard("{Enter}");
  await waitFor(() => expect(onHelp).toHaveBeenCalledOnce());
});

test("without the server pages are found all the same", async () => {
  serve({});
  const user = userEvent.setup();
  const { field } = open();
  await user.type(field, "webh");
  expect(await screen.findByText(/^The server does not answer/)).toBeVisible();
  expect(screen.getByRole("option", { name: /Webhooks/ })).toBeVisible();
});
