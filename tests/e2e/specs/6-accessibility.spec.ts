import { expect, test } from "@playwright/test";
import { Shell } from "../pages/Shell";
import { WallPage } from "../pages/WallPage";
import { expectAccessible } from "../support/axe";

const PAGES: [path: string, ready: string][] = [
  ["/incidents?state=all", "Incidents"],
  ["/remedies", "Remedies"],
  ["/agents", "Agents"],
  ["/webhooks", "Webhooks"],
  ["/settings/tokens", "Settings"],
  ["/settings/users", "Settings"],
  ["/settings/audit", "Settings"],
];

for (const scheme of ["dark", "light"] as const) {
  test.describe(`in the ${scheme} theme`, () => {
    test.beforeEach(async ({ page }) => {
      await page.addInitScript((value) => localStorage.setItem("mantine-color-scheme-value", value), scheme);
    });

    test("the wall, an RNIC and an incident have no violation", async ({ page }) => {
      const wall = new WallPage(page);
      await wall.open();
      await wall.painted();
      await expectAccessible(page);
      await wall.keys.focus();
      await page.keyboard.press("Enter");
      await expect(page.getByRole("region", { name: "Walls" })).toBeVisible();
      await expect(page.getByRole("status", { name: "Loading" })).toHaveCount(0);
      await expectAccessible(page);
      await page.goto("/incidents?state=all");
      const incident = page.getByRole("table", { name: "Incidents" }).getByRole("row").nth(1).getByRole("link").first();
      if (await incident.isVisible()) {
        await incident.click();
        await expect(page.getByRole("list", { name: /^Likely causes/ })).toBeVisible();
        await expectAccessible(page);
      }
    });

    for (const [path, heading] of PAGES) {
      test(`${path} has no violation`, async ({ page }) => {
        await page.goto(path);
        await expect(page.getByRole("heading", { name: heading, level: 1 })).toBeVisible();
        await new Shell(page).expectLive();
        await expect(page.getByRole("status", { name: "Loading" })).toHaveCount(0);
        await expectAccessible(page);
      });
    }
  });
}

test.describe("without a session", () => {
  test.use({ storageState: { cookies: [], origins: [] } });
  test("the sign-in form has no violation", async ({ page }) => {
    await page.goto("/");
    await expect(page.getByRole("button", { name: "Sign in" })).toBeVisible();
    await expectAccessible(page);
  });
});
