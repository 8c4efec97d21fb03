import { expect, test } from "@playwright/test";
import { RnicPage } from "../pages/RnicPage";
import { FleetPage } from "../pages/FleetPage";
import { SYMPTOM_MS } from "../support/environment";

test("the page of the sick RNIC shows its walls, series, mask chain and incident", async ({ page }) => {
  test.setTimeout(SYMPTOM_MS + 60_000);
  const fleet = new FleetPage(page);
  await fleet.open();
  await expect(fleet.sick("S1")).toBeVisible({ timeout: SYMPTOM_MS });
  await fleet.sick("S1").click();
  const rnic = new RnicPage(page);
  await expect(rnic.walls.locator("[data-wall]")).toHaveCount(5);
  await expect(rnic.walls).toContainText(/[\d,]+ \/ [\d,]+ flows/);
  await rnic.expectPainted(/^Flows over time/);
  await rnic.expectPainted(/^Counter gap/);
  await rnic.expectPainted(/^Egress mask chain/);
  await expect(rnic.incidents.getByRole("link").first()).toBeVisible();
  await rnic.chooseRange("1h");
  await expect(page).toHaveURL(/range=1h/);
  await page.reload();
  await rnic.expectPainted(/^Throughput over time/);
});

test("an unknown RNIC is reported as not found, with the code", async ({ page }) => {
  await page.goto("/rnics/host99/0000:ff:00.0");
  await expect(page.getByRole("alert").first()).toContainText("not_found");
});
