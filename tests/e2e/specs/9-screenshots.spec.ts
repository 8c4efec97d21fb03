import { expect, test } from "@playwright/test";
import { join } from "node:path";
import { IncidentPage } from "../pages/IncidentPage";
import { RnicPage } from "../pages/RnicPage";
import { FleetPage } from "../pages/FleetPage";
import { LabPage } from "../pages/LabPage";
import { SYMPTOM_MS } from "../support/environment";

/** The pictures of the documentation, from the real stack: E2E_SCREENSHOTS=docs/images tests/e2e/run screenshots */
const folder = process.env["E2E_SCREENSHOTS"];
/** Those of tenants need neighbours that break promises: SCENARIO=isolation E2E_SCREENSHOTS=docs/images tests/e2e/run screenshots */
const tenants = process.env["SCENARIO"] === "isolation";
const path = (name: string) => join(__dirname, "..", "..", "..", folder ?? "", `${name}.png`);

test("the pictures of the documentation are taken", async ({ page }) => {
  test.skip(!folder || tenants, "E2E_SCREENSHOTS names no folder, or another scenario runs");
  test.setTimeout(2 * SYMPTOM_MS + 60_000);
  const fleet = new FleetPage(page);
  await fleet.open();
  await fleet.painted();
  await expect(fleet.sick("S1")).toBeVisible({ timeout: SYMPTOM_MS });
  await expect(fleet.sick("S6")).toBeVisible({ timeout: SYMPTOM_MS });
  await page.screenshot({ path: path("fleet") });

  await fleet.sick("S1").click();
  const rnic = new RnicPage(page);
  await rnic.chooseRange("Last 5 minutes");
  await rnic.expectPainted(/^Re-offload ratio/);
  await page.screenshot({ path: path("rnic") });

  await rnic.incidents.getByRole("listitem").getByRole("link").first().click();
  const incident = new IncidentPage(page);
  await expect(incident.causes.getByRole("listitem").first()).toBeVisible();
  await expect(page.getByRole("region", { name: "Evidence charts" }).getByRole("img").first()).toHaveAttribute(
    "data-painted",
    "true",
  );
  await page.screenshot({ path: path("incident") });

  const remedy = await incident.review("tune-revalidator");
  await remedy.dryRun();
  await expect(remedy.progress).toHaveAttribute("data-state", "planned", { timeout: 60_000 });
  await expect(remedy.operations).toBeInViewport();
  await page.screenshot({ path: path("remedy") });
});

test("the picture of the lab is taken", async ({ page }) => {
  test.skip(!folder || tenants, "E2E_SCREENSHOTS names no folder, or another scenario runs");
  test.setTimeout(420_000);
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.goto("/lab");
  const lab = new LabPage(page);
  await lab.start("Simulated CX-6", ["masks_egress", "path_mtu", "vfs", "load_percent", "pcie_lanes"], "S6", 1000);
  await lab.finished(240_000);
  await expect(lab.cause(1).getByRole("img").first()).toBeVisible();
  await page.screenshot({ path: path("lab") });
});

test("the pictures of tenants are taken", async ({ page }) => {
  test.skip(!folder || !tenants, "E2E_SCREENSHOTS names no folder, or another scenario runs");
  test.setTimeout(2 * SYMPTOM_MS + 60_000);
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.goto("/tenants");
  // The burst on host02 begins after the storm on host01.
  await expect(
    page
      .getByRole("table")
      .first()
      .getByRole("link", { name: /^host02/ }),
  ).toBeVisible({ timeout: SYMPTOM_MS });
  await page.screenshot({ path: path("tenants") });

  await page.getByRole("link", { name: /^host01/ }).click();
  await expect(page.locator('[data-role="aggressor"]')).toBeVisible({ timeout: SYMPTOM_MS });
  await expect(page.locator("[data-strip]").first()).toBeVisible();
  await page.screenshot({ path: path("tenant-vfs") });
});
