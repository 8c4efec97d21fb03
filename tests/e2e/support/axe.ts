import { expect, type Page } from "@playwright/test";
import axe, { type Result } from "axe-core";

const THEME_KEY = "mantine-color-scheme-value";
const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"];

/** Switches the theme as another tab of the same browser would, so that open dialogs stay open. */
async function switchTheme(page: Page, scheme: "dark" | "light"): Promise<void> {
  await page.evaluate(
    ([key, newValue]) => {
      localStorage.setItem(key, newValue);
      window.dispatchEvent(new StorageEvent("storage", { key, newValue, storageArea: localStorage }));
    },
    [THEME_KEY, scheme] as const,
  );
  await expect(page.locator("html")).toHaveAttribute("data-mantine-color-scheme", scheme);
  // Colours that are still on their way from one theme to the other belong to neither.
  await page.evaluate(async () => {
    const transitions = document.getAnimations().filter((animation) => animation instanceof CSSTransition);
    await Promise.allSettled(transitions.map((transition) => transition.finished));
  });
}

/** axe is put into a document once: the pages have no frames, and need none of what its adaptor for Playwright does for them each time. */
async function violations(page: Page): Promise<Result[]> {
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(axe.source);
  return page.evaluate(async (values) => {
    const { axe } = window as unknown as { axe: typeof import("axe-core") };
    return (await axe.run(document, { runOnly: { type: "tag", values }, resultTypes: ["violations"] })).violations;
  }, RULES);
}

/** No violation of WCAG 2.1 A or AA on the page as it stands, dark and light; the message lists each with its place. */
export async function expectAccessible(page: Page): Promise<void> {
  const found: string[] = [];
  for (const scheme of ["light", "dark"] as const) {
    await switchTheme(page, scheme);
    for (const { id, impact, help, nodes } of await violations(page)) {
      const places = nodes.map((node) => `${node.target.join(" ")}: ${node.failureSummary ?? ""}`);
      found.push(`${scheme}: ${id} (${impact ?? "?"}): ${help}\n  ${places.join("\n  ")}`);
    }
  }
  expect(found.join("\n")).toBe("");
}
