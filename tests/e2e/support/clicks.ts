import type { Page } from "@playwright/test";

const KEY = "counted-clicks";

/** Counts what is clicked from now on, across pages: what a flow costs its user. Call it before the page is opened. */
export async function countClicks(page: Page): Promise<() => Promise<number>> {
  await page.addInitScript((key) => {
    window.addEventListener(
      "click",
      ({ isTrusted }) => {
        if (isTrusted) sessionStorage.setItem(key, String(Number(sessionStorage.getItem(key) ?? 0) + 1));
      },
      { capture: true },
    );
  }, KEY);
  return () => page.evaluate((key) => Number(sessionStorage.getItem(key) ?? 0), KEY);
}
