import { expect, type Locator, type Page } from "@playwright/test";

/** Models, card and placement of network functions. */
export class FunctionsPage {
  readonly addPanel: Locator;
  readonly whatIf: Locator;
  readonly answer: Locator;
  readonly functionsField: Locator;

  constructor(private readonly page: Page) {
    this.addPanel = page.getByRole("region", { name: "May I add a function here?" });
    this.whatIf = page.getByRole("region", { name: "What if" });
    this.answer = this.addPanel.getByRole("status", { name: "Answer" });
    this.functionsField = page.getByLabel("Functions", { exact: true }).and(page.getByRole("textbox"));
  }

  async openModels(): Promise<void> {
    await this.page.goto("/functions/models");
    await expect(this.page.getByRole("heading", { name: "Functions", level: 1 })).toBeVisible();
  }

  async openCard(): Promise<void> {
    await this.page.getByRole("navigation", { name: "Functions" }).getByRole("link", { name: "Card" }).click();
    await expect(this.addPanel).toBeVisible();
  }

  async openPlacement(): Promise<void> {
    await this.page.getByRole("navigation", { name: "Functions" }).getByRole("link", { name: "Placement" }).click();
    await expect(this.functionsField).toBeVisible();
  }

  async upload(files: string[]): Promise<void> {
    await this.page.getByRole("button", { name: "Upload profiles…" }).click();
    const dialog = this.page.getByRole("dialog");
    const chooser = this.page.waitForEvent("filechooser");
    await dialog.getByRole("button", { name: "Profile files" }).click();
    await (await chooser).setFiles(files);
    await dialog.getByRole("button", { name: "Train" }).click();
    await expect(dialog).toBeHidden({ timeout: 90_000 });
  }

  async promoteNewest(name: string, reason: string): Promise<void> {
    await this.page
      .getByRole("table", { name: `Versions of ${name}` })
      .getByRole("button", { name: /^Promote version/ })
      .first()
      .click();
    const dialog = this.page.getByRole("dialog");
    await dialog.getByLabel("Reason").fill(reason);
    await dialog.getByRole("button", { name: "Promote" }).click();
    await expect(dialog).toBeHidden();
  }

  async setTerms(name: string, percent: string): Promise<void> {
    await this.page.getByRole("button", { name: `Change the terms of ${name}` }).click();
    const dialog = this.page.getByRole("dialog");
    await dialog.getByLabel("May lose").fill(percent);
    await dialog.getByRole("button", { name: "Save" }).click();
    await expect(dialog).toBeHidden();
  }

  async add(name: string): Promise<void> {
    await this.addPanel.getByRole("combobox", { name: "Function" }).click();
    await this.page.getByRole("option", { name, exact: true }).click();
  }

  async addToPlan(): Promise<void> {
    await this.addPanel.getByRole("button", { name: "Add it to this plan" }).click();
  }

  async slide(panel: Locator, label: string, key: string): Promise<void> {
    await panel.getByRole("slider", { name: label }).press(key);
  }

  resident(name: string): Locator {
    return this.page.getByRole("table", { name: "On this card" }).locator(`[data-function="${name}"]`);
  }

  async place(): Promise<void> {
    await this.page.getByRole("button", { name: "Place", exact: true }).click();
  }

  plan(label: string): Locator {
    return this.page.locator(`[data-plan="${label}"]`);
  }
}
