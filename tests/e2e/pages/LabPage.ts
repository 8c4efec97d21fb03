import { expect as standard, type Locator, type Page } from "@playwright/test";

const expect = standard.configure({ timeout: 60_000 });

/** The lab: its devices, the start of a campaign, and the page of one. */
export class LabPage {
  readonly state: Locator;
  readonly progress: Locator;
  constructor(private readonly page: Page) {
    this.state = page.getByTestId("campaign-state");
    this.progress = page.getByRole("region", { name: "Progress" });
  }

  /** A campaign on a device that varies only these parameters; the page of the campaign is open afterwards. */
  async start(device: string, parameters: readonly string[], target: string, budget: number): Promise<void> {
    const ready = this.page.getByTestId("lab-device").filter({ hasText: device });
    await expect(ready).toContainText("Ready", { timeout: 120_000 });
    await ready.getByRole("link", { name: `Test ${device}` }).click();
    await expect(this.page.getByRole("heading", { name: "Start a campaign", level: 1 })).toBeVisible();
    await this.page.getByRole("combobox", { name: "Look for" }).click();
    await this.page.getByRole("option", { name: target, exact: true }).click();
    await this.page.getByRole("textbox", { name: "Most tests" }).fill(String(budget));
    await this.page.getByRole("button", { name: /^Advanced/ }).click();
    await this.page.getByRole("button", { name: "Clear all" }).click();
    for (const parameter of parameters)
      await this.page.getByRole("checkbox", { name: `Vary ${parameter}`, exact: true }).check();
    await this.page.getByRole("button", { name: "Start", exact: true }).click();
    await expect(this.page.getByRole("heading", { name: `Lab campaign on ${device}`, level: 1 })).toBeVisible();
  }

  /** Wait until the runner is done, however slow the machine is. */
  async finished(timeout: number): Promise<void> {
    await expect(this.state).toHaveAttribute("data-state", "finished", { timeout });
  }

  cause(number: number): Locator {
    return this.page.getByRole("region", { name: new RegExp(`^Cause ${number}:`) });
  }
}
