import { expect, test as each } from "@playwright/test";
import { Shell } from "../pages/Shell";
import { FleetPage } from "../pages/FleetPage";
import { IncidentsPage } from "../pages/IncidentsPage";
import { RnicPage } from "../pages/RnicPage";
import { SYMPTOM_MS } from "../support/environment";
import { expectAccessible } from "../support/axe";
import { expectFits } from "../support/fits";
import { follow, test } from "../support/onePage";

/** Neighbours have different headings: a new one shows that the page was changed. */
const PAGES: [path: string, ready: string][] = [
  ["/incidents?state=all", "Incidents"],
  ["/silences", "Silences"],
  ["/policies", "Policies"],
  ["/incidents?state=all&group=rack", "Incidents"],
  ["/policies/new", "New policy"],
  ["/policies/rnic-link-comes-back", "A PCIe link that goes down comes back"],
  ["/symptoms/S1", "Repetitive flow re-offloading"],
  ["/symptoms/silent", "Host stopped reporting"],
  ["/tenants", "Tenants"],
  ["/functions", "Functions"],
  ["/tenants/slos", "Tenants"],
  ["/functions/placement", "Functions"],
  ["/tenants/report", "Tenants"],
  ["/functions/models", "Functions"],
  ["/forecasts", "Forecasts"],
  ["/profiles", "Profiles"],
  ["/profiles/CX-6", "NVIDIA ConnectX-6"],
  ["/lab", "Lab"],
  ["/captures", "Captures"],
  ["/lab/new", "Start a campaign"],
  ["/remedies", "Remedies"],
  ["/settings/tokens", "Settings"],
  ["/rollouts", "Rollouts"],
  ["/rollouts/new", "Roll out a remedy"],
  ["/settings/users", "Settings"],
  ["/hosts", "Hosts"],
  ["/webhooks", "Webhooks"],
  ["/settings/audit", "Settings"],
  ["/account", "Account"],
];

// The message names what fails, so no trace is recorded.
test.use({ trace: "off" });
each.use({ trace: "off" });

test("the fleet, an RNIC and an incident have no violation", async ({ page }) => {
  test.setTimeout(SYMPTOM_MS + 300_000); // eight pages, each in both themes
  const fleet = new FleetPage(page);
  await fleet.open();
  await fleet.painted();
  await expectAccessible(page);
  await expectFits(page);
  await fleet.keys.focus();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("region", { name: "Limits" })).toBeVisible();
  for (const tab of ["Overview", "Flows & masks", "VFs", "Policies", "Forecast", "Hardware"] as const) {
    await new RnicPage(page).openTab(tab);
    await expect(page.getByRole("status", { name: "Loading" })).toHaveCount(0);
    await expectAccessible(page);
  }
  await expectFits(page);
  await follow(page, "/incidents?state=all", "Incidents");
  const list = new IncidentsPage(page);
  await expect(list.first).toBeVisible({ timeout: SYMPTOM_MS });
  await list.first.click();
  await expect(page.getByRole("region", { name: "What happened" })).toBeVisible();
  await expect(page.getByRole("status", { name: "Loading" })).toHaveCount(0);
  await expectAccessible(page);
  await expectFits(page);
});

test("the dialogs of the incident list have no violation", async ({ page }) => {
  test.setTimeout(SYMPTOM_MS + 60_000);
  const list = new IncidentsPage(page);
  await follow(page, "/incidents?state=all", "Incidents");
  await expect(list.first).toBeVisible({ timeout: SYMPTOM_MS });
  await page.keyboard.press("j");
  await page.keyboard.press("x");
  await expect(list.bar).toBeVisible();
  await expectAccessible(page);
  await page.keyboard.press("s");
  await expect(page.getByRole("dialog", { name: "Silence incidents" })).toBeVisible();
  await expect(page.getByRole("status", { name: "Preview" })).toBeVisible();
  await expectAccessible(page);
  await page.keyboard.press("Escape");
  await page.keyboard.press("?");
  await expect(page.getByRole("dialog", { name: "Keyboard shortcuts" })).toBeVisible();
  await expectAccessible(page);
});

for (const [path, heading] of PAGES) {
  test(`${path} has no violation, and fits a phone`, async ({ page }) => {
    await follow(page, path, heading);
    await new Shell(page).expectLive();
    await expect(page.getByRole("status", { name: "Loading" })).toHaveCount(0);
    await expectAccessible(page);
    await expectFits(page);
  });
}

each.describe("without a session", () => {
  each.use({ storageState: { cookies: [], origins: [] } });
  each("the sign-in form has no violation", async ({ page }) => {
    await page.goto("/");
    await expect(page.getByRole("button", { name: "Sign in" })).toBeVisible();
    await expectAccessible(page);
  });
});
