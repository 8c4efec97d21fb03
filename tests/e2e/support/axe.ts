import { AxeBuilder } from "@axe-core/playwright";
import { expect, type Page } from "@playwright/test";

const THEME_KEY = "mantine-color-scheme-value";

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

/** No violation of WCAG 2.1 A or AA on the page as it stands, dark and light; the message lists each with its place. */
export async function expectAccessible(page: Page): Promise<void> {
  const found: string[] = [];
  for (const scheme of ["light", "dark"] as const) {
    await switchTheme(page, scheme);
    const { violations } = await new AxeBuilder({ page })
      .withTags(["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"])
      .analyze();
    for (const { id, impact, help, nodes } of violations) {
      const places = nodes.map((node) => `${node.target.join(" ")}: ${node.failureSummary ?? ""}`);
      found.push(`${scheme}: ${id} (${impact ?? "?"}): ${help}\n  ${places.join("\n  ")}`);
    }
  }
  expect(found.join("\n")).toBe("");
}
