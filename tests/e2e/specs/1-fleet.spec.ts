import { expect, test } from "@playwright/test";
import { Shell } from "../pages/Shell";
import { FleetPage } from "../pages/FleetPage";
import { expectAccessible } from "../support/axe";
import { SYMPTOM_MS } from "../support/environment";

test("the fleet page shows every RNIC, live, and filters it by the URL", async ({ page }) => {
  const fleet = new FleetPage(page);
  await fleet.open();
  const all = await fleet.painted();
  expect(all).toBe(32);
  await new Shell(page).expectLive();
  await fleet.open("?host=host03");
  await expect(fleet.map).toHaveAttribute("data-painted", "4");
  await page.getByRole("button", { name: "Clear filters" }).click();
  await expect(fleet.map).toHaveAttribute("data-painted", String(all));
  await expect(page).not.toHaveURL(/host=/);
});

test("tiles are reached and opened by keyboard, each with its name", async ({ page }) => {
  const fleet = new FleetPage(page);
  await fleet.open();
  await fleet.painted();
  await fleet.keys.focus();
  const first = await fleet.focused.textContent();
  expect(first).toMatch(/host\d+ 0000:[0-9a-f]{2}:00\.0; /);
  await page.keyboard.press("ArrowRight");
  await expect(fleet.focused).not.toHaveText(first ?? "");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/rnics\/host\d+\/0000/);
});

test("shortcuts lead to the pages and focus the filter", async ({ page }) => {
  test.setTimeout(120_000);
  const fleet = new FleetPage(page);
  await fleet.open();
  await fleet.painted();
  await page.keyboard.press("/");
  await expect(page.getByLabel("Filter by text")).toBeFocused();
  await page.keyboard.type("host06");
  await expect(page).toHaveURL(/q=host06/);
  await page.getByLabel("Filter by text").blur();
  // The two keys of a chord have a limited time, which a busy machine may exceed.
  await expect(async () => {
    await page.keyboard.press("g");
    await page.keyboard.press("i");
    await expect(page.getByRole("heading", { name: "Incidents", level: 1 })).toBeVisible({ timeout: 5_000 });
  }).toPass({ timeout: 60_000 });
  await page.keyboard.press("?");
  await expect(page.getByRole("dialog", { name: "Keyboard shortcuts" })).toBeVisible();
});

test("the RNIC with a symptom is named on the first screen and one click away", async ({ page }) => {
  test.setTimeout(SYMPTOM_MS + 90_000);
  const fleet = new FleetPage(page);
  await fleet.open();
  await expect(fleet.sick("S1")).toBeVisible({ timeout: SYMPTOM_MS });
  await fleet.sick("S1").click();
  await expect(page).toHaveURL(/\/rnics\/host\d+\/0000/);
  await expect(page.getByRole("region", { name: "Symptoms and incidents" })).toContainText("S1", { timeout: 60_000 });
});

test("on a narrow screen the navigation is a drawer, and the page Agents has moved", async ({ page }) => {
  await page.setViewportSize({ width: 800, height: 900 });
  await page.goto("/agents?connection=lost");
  await expect(page).toHaveURL(/\/hosts\?connection=lost$/);
  await expect(page).toHaveTitle(/Hosts · Wallwatch$/);
  await page.getByRole("button", { name: "Open the menu" }).click();
  const drawer = page.getByRole("dialog", { name: "Wallwatch" });
  await drawer.getByRole("link", { name: "Rollouts" }).click();
  await expect(page.getByRole("heading", { name: "Rollouts", level: 1 })).toBeVisible();
  await expect(drawer).toBeHidden();
});

test("the sick RNICs are stepped through by key, shown alone, and a click leads to the incident", async ({ page }) => {
  test.setTimeout(SYMPTOM_MS + 60_000);
  const fleet = new FleetPage(page);
  await fleet.open();
  await expect(fleet.sick("S1")).toBeVisible({ timeout: SYMPTOM_MS });
  await page.keyboard.press("n");
  await expect(fleet.focused).toHaveText(/symptoms|limit/);
  await expect(fleet.keys).toBeFocused();
  await page.getByRole("button", { name: "Only sick" }).click();
  await expect(page).toHaveURL(/sick=1/);
  await expect.poll(() => fleet.painted()).toBeLessThan(32);
  await page
    .getByRole("link", { name: /^Open the incident of / })
    .first()
    .click();
  await expect(page).toHaveURL(/\/incidents\//);
});

test("the last hour is replayed by a slider, whose minute is in the link, and one comes back to now", async ({
  page,
}) => {
  test.setTimeout(240_000);
  const fleet = new FleetPage(page);
  await fleet.open();
  await fleet.painted();
  await page.getByRole("button", { name: "Replay", exact: true }).click();
  await expect(page).toHaveURL(/at=/);
  const bar = page.getByRole("region", { name: "Replay of the fleet" });
  const slider = bar.getByRole("slider", { name: "Minute that is shown" });
  await expect(slider).toHaveValue("-60");
  await slider.press("End");
  await expect(slider).toHaveAttribute("aria-valuetext", /, [12] minutes? ago$/);
  await slider.press("ArrowLeft");
  await expect(slider).toHaveAttribute("aria-valuetext", /, [23] minutes ago$/);
  await expect(bar).toHaveAttribute("aria-busy", "false");
  await expect(bar.getByRole("alert")).toHaveCount(0);
  expect(await fleet.painted()).toBe(32);

  const minute = new URL(page.url()).searchParams.get("at");
  await page.reload();
  await expect(bar.locator("[data-minute]")).toHaveAttribute("data-minute", minute ?? "");
  await bar.getByRole("button", { name: "Back to now" }).click();
  await expect(bar).toBeHidden();
  await expect(page).not.toHaveURL(/at=/);
});

test("Ctrl K finds an RNIC by a part of its host's name and opens it without the mouse", async ({ page }) => {
  await page.goto("/incidents");
  await expect(page.getByRole("heading", { name: "Incidents", level: 1 })).toBeVisible();
  await page.keyboard.press("Control+k");
  const palette = page.getByRole("dialog", { name: "Search and go to" });
  await palette.getByRole("combobox", { name: "Search" }).fill("st07 3b:00");
  await expect(palette.getByRole("option", { selected: true })).toHaveText(/^host07 0000:3b:00\.0/, {
    timeout: 60_000,
  });
  await expectAccessible(page);
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/rnics\/host07\/0000/);
  await expect(palette).toBeHidden();
});
