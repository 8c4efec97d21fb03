import { expect as standard, test } from "@playwright/test";
import { LabPage } from "../pages/LabPage";
import { Shell } from "../pages/Shell";
import { expectAccessible } from "../support/axe";

const DEVICE = "Simulated CX-6";
const PARAMETER = "masks_egress";
/** The search over one parameter takes some 70 tests, each of some milliseconds; the rest is patience with a slow machine. */
const BUDGET = 300;
const SEARCH_MS = 240_000;
const expect = standard.configure({ timeout: 60_000 });

test("a campaign is started, followed, and its cause is written into the profile", async ({ page }) => {
  test.setTimeout(SEARCH_MS + 180_000);
  const lab = new LabPage(page);
  await page.goto("/");
  await new Shell(page).goTo("Lab");
  await lab.start(DEVICE, [PARAMETER], "S6", BUDGET);
  const address = page.url();

  // The page follows the campaign by itself, from the runner's first report to the end.
  await expect(lab.progress).toContainText(/\d tests/, { timeout: SEARCH_MS });
  await lab.finished(SEARCH_MS);
  await expect(lab.progress).toContainText(`Brute force over ${PARAMETER} (up to five values) would take 5 tests`);
  await expect(page.getByRole("region", { name: "Causes" })).toContainText("1 cause");

  const cause = lab.cause(1);
  await expect(cause).toContainText("This is C6");
  await expect(cause).not.toContainText("Not proven");
  await expect(cause.getByRole("listitem").first()).toContainText(`${PARAMETER} is at least`);
  await expect(cause).toContainText(/last good \d+, first bad \d+/);
  await expect(cause).toContainText("No policy: A policy speaks of events");
  await cause.getByRole("button", { name: "Show text" }).click();
  await expect(cause.getByText("Passes with only this changed")).toBeVisible();
  await expect(page.getByRole("region", { name: "Tests" }).getByRole("row").nth(1)).toBeVisible();
  await expectAccessible(page);

  await page.getByRole("button", { name: "Write into profile" }).click();
  const written = page.getByRole("link", { name: /^Version \d+ of CX-6$/ });
  await expect(written).toBeVisible();
  const number = /Version (\d+)/.exec((await written.textContent()) ?? "")?.[1];
  await written.click();
  const version = page.getByRole("table", { name: "Versions" }).locator(`[data-version="${number}"]`);
  await expect(version).toContainText("candidate", { timeout: 60_000 });

  await page.goto("/lab");
  const row = page.getByTestId("campaign").filter({ has: page.locator(`a[href="${new URL(address).pathname}"]`) });
  await expect(row).toContainText("1 cause found");
  await expectAccessible(page);
});
