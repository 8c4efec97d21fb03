import { test as base, type Page } from "@playwright/test";
import { baseUrl, SIGNED_IN } from "./environment";

/**
 * Tests that share one page: they go from page to page as a reader does, so that the application is loaded once and not for each of them.
 * After a test that failed, Playwright starts another worker, and with it a new page.
 */
export const test = base.extend<{ page: Page }, { shared: Page }>({
  shared: [
    async ({ browser }, use) => {
      const context = await browser.newContext({
        baseURL: baseUrl(),
        storageState: SIGNED_IN,
        viewport: { width: 1440, height: 900 },
        colorScheme: "dark",
      });
      await use(await context.newPage());
      await context.close();
    },
    { scope: "worker" },
  ],
  page: async ({ shared }, use) => use(shared),
});

/** The heading of the page that is shown; null before the first one. */
async function headingOf(page: Page): Promise<string | null> {
  const heading = page.getByRole("heading", { level: 1 });
  return (await heading.count()) === 0 ? null : await heading.first().textContent();
}

/**
 * Goes to an address without loading the application again, as a click on a link to it does, and waits for the page's heading.
 * From a page with the same heading nothing would show that the other one is there, so that the browser loads it.
 */
export async function follow(page: Page, path: string, heading: string): Promise<void> {
  const now = await headingOf(page);
  if (now === null || now === heading) await page.goto(path);
  else await page.evaluate((address) => history.pushState({}, "", address), path);
  await page.getByRole("heading", { name: heading, level: 1 }).waitFor();
}
