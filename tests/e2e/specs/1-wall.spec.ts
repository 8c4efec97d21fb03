import { expect, test } from "@playwright/test";
import { Shell } from "../pages/Shell";
import { WallPage } from "../pages/WallPage";
import { SYMPTOM_MS } from "../support/environment";

test("the wall shows the whole fleet, live, and filters it by the URL", async ({ page }) => {
  const wall = new WallPage(page);
  await wall.open();
  const all = await wall.painted();
  expect(all).toBe(32);
  await new Shell(page).expectLive();
  await wall.open("?host=host03");
  await expect(wall.wall).toHaveAttribute("data-painted", "4");
  await page.getByRole("button", { name: "Clear filters" }).click();
  await expect(wall.wall).toHaveAttribute("data-painted", String(all));
  await expect(page).not.toHaveURL(/host=/);
});

test("tiles are reached and opened by keyboard, each with its name", async ({ page }) => {
  const wall = new WallPage(page);
  await wall.open();
  await wall.painted();
  await wall.keys.focus();
  const first = await wall.focused.textContent();
  expect(first).toMatch(/host\d+ 0000:[0-9a-f]{2}:00\.0; /);
  await page.keyboard.press("ArrowRight");
  await expect(wall.focused).not.toHaveText(first ?? "");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/rnics\/host\d+\/0000/);
});

test("shortcuts lead to the pages and put the cursor into the filter", async ({ page }) => {
  const wall = new WallPage(page);
  await wall.open();
  await wall.painted();
  await page.keyboard.press("/");
  await expect(page.getByLabel("Filter by text")).toBeFocused();
  await page.keyboard.type("host06");
  await expect(page).toHaveURL(/q=host06/);
  await page.getByLabel("Filter by text").blur();
  await page.keyboard.press("g");
  await page.keyboard.press("i");
  await expect(page.getByRole("heading", { name: "Incidents", level: 1 })).toBeVisible();
  await page.keyboard.press("?");
  await expect(page.getByRole("dialog", { name: "Keyboard shortcuts" })).toBeVisible();
});

test("the RNIC with a symptom is named on the first screen and one click away", async ({ page }) => {
  test.setTimeout(SYMPTOM_MS + 30_000);
  const wall = new WallPage(page);
  await wall.open();
  await expect(wall.sick("S1")).toBeVisible({ timeout: SYMPTOM_MS });
  await wall.sick("S1").click();
  await expect(page).toHaveURL(/\/rnics\/host\d+\/0000/);
  await expect(page.getByRole("region", { name: "Symptoms and incidents" })).toContainText("S1");
});
