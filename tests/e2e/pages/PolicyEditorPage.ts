import { expect, type Locator, type Page } from "@playwright/test";

/** Where a policy is written and tried out. */
export class PolicyEditorPage {
  readonly formula: Locator;
  readonly problem: Locator;
  readonly bench: Locator;
  readonly backtest: Locator;
  constructor(private readonly page: Page) {
    this.formula = page.getByRole("textbox", { name: "Formula" });
    this.problem = page.getByRole("status", { name: "Formula problem" });
    this.bench = page.getByRole("group", { name: "Trace bench" });
    this.backtest = page.getByRole("region", { name: "Backtest" });
  }

  async open(): Promise<void> {
    await this.page.getByRole("link", { name: "New policy" }).click();
    await expect(this.page.getByRole("heading", { name: "New policy", level: 1 })).toBeVisible();
  }

  async bind(proposition: string, event: string): Promise<void> {
    const field = this.page.locator(`[data-proposition="${proposition}"] input`).first();
    await field.click();
    await this.page.getByRole("option", { name: event, exact: true }).click();
    await field.press("Escape");
  }

  verdict(step: number): Locator {
    return this.bench.locator(`td[data-step="${step}"]`);
  }
}
