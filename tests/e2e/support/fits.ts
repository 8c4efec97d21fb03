import { expect, type Page } from "@playwright/test";

const WIDTHS = [800, 390];

/** Neither on a tablet nor on a phone does the page itself scroll sideways; what is wider, a table or a chart, scrolls in its own box. */
export async function expectFits(page: Page): Promise<void> {
  const before = page.viewportSize();
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 844 });
    await expect
      .poll(
        () =>
          page.evaluate(() => {
            const main = document.querySelector("main");
            const over = [document.documentElement, ...(main ? [main] : [])].map(
              (box) => box.scrollWidth - box.clientWidth,
            );
            return Math.max(...over);
          }),
        { message: `wider than a window of ${width} pixels`, timeout: 30_000 },
      )
      .toBeLessThanOrEqual(0);
  }
  if (before) await page.setViewportSize(before);
}
