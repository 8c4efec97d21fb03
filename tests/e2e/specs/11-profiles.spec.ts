import { expect, test } from "@playwright/test";
import { ProfilePage } from "../pages/ProfilePage";
import { expectAccessible } from "../support/axe";
import { outputs } from "../support/perftest";

/** No RNIC of the fleet is of this model, so that nothing else changes with it. */
const MODEL = "E810";
const CARD = { u: 300, v: 40, m: -25, n: -45, w: 20, a: 0.05, b: 0.08, c: 3 };
const GRID = [0, 20, 60].flatMap((left) => [0, 20, 60].map((right) => [left, right] as const));

test("a calibration is uploaded, compared, promoted and rolled back", async ({ page }) => {
  test.setTimeout(180_000);
  const profile = new ProfilePage(page);
  await profile.open(MODEL);
  const number = await profile.calibrate(outputs(CARD, GRID), `a lab's pair ${Date.now()}`);
  await expect(profile.version(number)).toContainText("candidate");
  await expect(page.getByRole("table", { name: "Parameters of bandwidth" })).toContainText("to");
  await expect(page.getByRole("table", { name: "Points of latency" }).locator("tbody tr")).toHaveCount(GRID.length);
  await expectAccessible(page);

  await page.getByRole("button", { name: `Compare version ${number} with the active one` }).click();
  const compared = page.getByRole("table", { name: "Parameters side by side" });
  await expect(compared).toContainText(`Version ${number}`);
  await expect(page.getByRole("table", { name: "At every measured point" }).locator("tbody tr")).toHaveCount(
    2 * GRID.length,
  );

  await profile.change(`Promote version ${number}`, "Promote", "measured in the lab");
  await expect(profile.version(number)).toContainText("active");
  await expect(page.getByText(`version ${number} is active`)).toBeVisible();
  await expect(page.locator('[data-wall="egress_masks"]')).toContainText("calibrated");

  await profile.change(`Roll back from version ${number}`, "Roll back", "the lab's cables were wrong");
  await expect(profile.version(number)).toContainText("inactive");
  await expect(page.getByText("the built-in profile is active")).toBeVisible();
  await page.goto("/settings/audit");
  await expect(page.getByText("profile.rollback").first()).toBeVisible();
});

test("a worse fit is refused, and both fits are shown with the reason", async ({ page }) => {
  test.setTimeout(180_000);
  const profile = new ProfilePage(page);
  await profile.open(MODEL);
  const number = await profile.calibrate(outputs(CARD, GRID, [1, 4, 0.3]), `a broken pair ${Date.now()}`);
  await expect(profile.version(number)).toContainText("refused");
  await expect(page.getByRole("button", { name: `Promote version ${number}` })).toBeHidden();
  const bandwidth = page.getByRole("region", { name: "Bandwidth", exact: true });
  await expect(bandwidth).toContainText("below the goodness");
  await expect(bandwidth.getByRole("table", { name: "Points of bandwidth" }).getByRole("columnheader")).toContainText([
    "Fitted",
    "Error",
    "Previous error",
  ]);
});

test("few points report which parameters they do not identify", async ({ page }) => {
  test.setTimeout(180_000);
  const profile = new ProfilePage(page);
  await profile.open(MODEL);
  await profile.calibrate(
    outputs(CARD, [
      [0, 0],
      [20, 80],
    ]),
    `two settings ${Date.now()}`,
  );
  const parameters = page.getByRole("table", { name: "Parameters of bandwidth" });
  await expect(parameters).toContainText("not identifiable from this data");
  await expect(page.getByText("R squared does not show").first()).toBeVisible();
});
