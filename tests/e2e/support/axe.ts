import { AxeBuilder } from "@axe-core/playwright";
import { expect, type Page } from "@playwright/test";

/** No violation of WCAG 2.1 A or AA on the page as it stands; the message lists each with the place it was found. */
export async function expectAccessible(page: Page): Promise<void> {
  const { violations } = await new AxeBuilder({ page })
    .withTags(["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"])
    .analyze();
  const found = violations.map(
    (each) =>
      `${each.id} (${each.impact ?? "?"}): ${each.help}\n  ${each.nodes.map((node) => `${node.target.join(" ")}: ${node.failureSummary ?? ""}`).join("\n  ")}`,
  );
  expect(found.join("\n")).toBe("");
}
