import { expect, test } from "@playwright/test";
import { expectAccessible } from "../support/axe";
import { expectFits } from "../support/fits";
import { type Kind, MockedPages } from "../support/mockedPages";

/** Pages that look different without data, or without a server that answers. */
const PAGES = [
  "/",
  "/forecasts",
  "/incidents",
  "/tenants",
  "/functions",
  "/lab",
  "/captures",
  "/remedies",
  "/hosts",
  "/webhooks",
  "/rnics/host01/0000:3b:00.0",
  "/incidents/00000000-0000-4000-8000-000000000011",
  "/no-such-page",
];
const STATES: Record<Kind, string> = { empty: "an empty installation", broken: "a server that fails" };

test.use({ trace: "off", storageState: { cookies: [], origins: [] } });

let pages: MockedPages;
test.beforeAll(async () => {
  pages = await MockedPages.start("empty", "broken");
});
test.afterAll(() => pages.stop());

for (const [kind, state] of Object.entries(STATES) as [Kind, string][]) {
  test(`the pages of ${state} have no violation, and fit a phone`, async ({ page }) => {
    test.setTimeout(300_000); // thirteen pages, each in both themes
    for (const path of PAGES) {
      await test.step(path, async () => {
        await page.goto(pages.address(kind) + path);
        await expect(page.locator("main")).toBeVisible();
        // A failing server is asked three times before the page says so.
        await expect(page.getByRole("status", { name: "Loading" })).toHaveCount(0, { timeout: 60_000 });
        await expect(page.locator("main").getByText(/\w/).first()).toBeVisible();
        await expectAccessible(page);
        await expectFits(page);
      });
    }
  });
}
