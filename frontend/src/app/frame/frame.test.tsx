import { MantineProvider } from "@mantine/core";
import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  RouterProvider,
} from "@tanstack/react-router";
import { render, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";
import { Navigation } from "./Navigation";
import { PLACES } from "./places";
import { ShortcutHelp } from "./ShortcutHelp";
import { ThemeButton } from "./ThemeButton";
import { Trail } from "./Trail";
import { useShortcuts } from "./useShortcuts";

function Frame() {
  const { help } = useShortcuts();
  return (
    <>
      <Navigation open={7} />
      <Trail />
      <ThemeButton />
      {help.opened && <ShortcutHelp onClose={help.close} />}
    </>
  );
}

/** The frame at an address of a router with the product's paths and no pages. */
async function show(path: string) {
  const root = createRootRoute({ component: Frame });
  const paths = [...PLACES.map(({ to }) => to), "/rnics/$host/$pci", "/settings/$section"];
  const routeTree = root.addChildren(paths.map((each) => createRoute({ getParentRoute: () => root, path: each })));
  const router = createRouter({ routeTree, history: createMemoryHistory({ initialEntries: [path] }) });
  render(
    <MantineProvider env="test" defaultColorScheme="auto">
      <RouterProvider router={router as never} />
    </MantineProvider>,
  );
  await screen.findByRole("navigation", { name: "Main" });
  return router;
}

const current = () =>
  within(screen.getByRole("navigation", { name: "Main" }))
    .getAllByRole("link")
    .filter((link) => link.getAttribute("aria-current") === "page")
    .map((link) => link.textContent);

test("the side bar marks the page that an address belongs to, and counts the open incidents", async () => {
  await show("/rnics/host01/0000:3b:00.0");
  expect(current()).toEqual(["Fleet"]);
  expect(screen.getByRole("link", { name: /^Incidents.*7 open$/ })).toBeVisible();
});

test("the trail of an RNIC leads back to its host and to the fleet", async () => {
  await show("/rnics/host01/0000:3b:00.0");
  const trail = within(screen.getByRole("navigation", { name: "Breadcrumbs" }));
  expect(trail.getAllByRole("listitem").map((item) => item.textContent)).toEqual(["Fleet", "host01", "0000:3b:00.0"]);
  expect(trail.getByRole("link", { name: "host01" })).toHaveAttribute("href", expect.stringContaining("host01"));
});

test("a page of the side bar has no trail", async () => {
  await show("/incidents");
  expect(screen.queryByRole("navigation", { name: "Breadcrumbs" })).toBeNull();
});

test("two keys lead to each page, and the help lists them all", async () => {
  const user = userEvent.setup({ delay: null }); // a chord has its time, which a slow machine must not use up
  const router = await show("/settings/audit");
  for (const { chord, to } of PLACES) {
    await user.keyboard(`g${chord}`);
    await waitFor(() => expect(router.state.location.pathname).toBe(to));
  }
  await user.keyboard("?");
  const help = await screen.findByRole("dialog", { name: "Keyboard shortcuts" });
  for (const { chord } of PLACES) expect(within(help).getByText(`g ${chord}`)).toBeInTheDocument();
});

test("the theme goes from the system's to light, to dark, and back", async () => {
  const user = userEvent.setup();
  await show("/");
  for (const name of ["automatic", "light", "dark"]) {
    await user.click(await screen.findByRole("button", { name: new RegExp(`^Theme: ${name}`) }));
  }
  expect(await screen.findByRole("button", { name: /^Theme: automatic/ })).toBeVisible();
});
