import type { Locator, Page } from "@playwright/test";

export class IncidentPage {
  readonly causes: Locator;
  readonly evidence: Locator;
  readonly timeline: Locator;
  constructor(private readonly page: Page) {
    this.causes = page.getByRole("list", { name: /^Likely causes/ });
    this.evidence = page.getByRole("table", { name: "Evidence" });
    this.timeline = page.getByRole("list", { name: /^Timeline/ });
  }

  cause(id: string): Locator {
    return this.causes.locator(`[data-cause="${id}"]`);
  }

  async acknowledge(): Promise<void> {
    await this.page.getByRole("button", { name: "Acknowledge", exact: true }).click();
  }

  /** The remedy that was applied last, live. */
  get applied(): Locator {
    return this.page.getByRole("group", { name: "Applied remedy" });
  }

  /** The page's header says whether the symptom is there. */
  get presence(): Locator {
    return this.page.getByText(/^symptom (present now|cleared)/);
  }

  async comment(text: string): Promise<void> {
    await this.page.getByLabel("Comment").fill(text);
    await this.page.getByRole("button", { name: "Comment" }).click();
  }

  /** Opens the dialog on a suggested remedy. */
  async review(action: string): Promise<RemedyDialog> {
    await this.page
      .locator(`[data-action="${action}"]`)
      .getByRole("button", { name: /^Review/ })
      .click();
    return new RemedyDialog(this.page);
  }
}

export class RemedyDialog {
  readonly dialog: Locator;
  readonly operations: Locator;
  readonly progress: Locator;
  constructor(page: Page) {
    this.dialog = page.getByRole("dialog", { name: /^Remedy/ });
    this.operations = this.dialog.getByRole("table", { name: "Operations" });
    this.progress = this.dialog.getByTestId("remedy-progress");
  }

  async dryRun(): Promise<void> {
    await this.dialog.getByRole("button", { name: "Dry run" }).click();
  }

  get apply(): Locator {
    return this.dialog.getByRole("button", { name: "Apply", exact: true });
  }

  get undo(): Locator {
    return this.dialog.getByRole("button", { name: "Undo" });
  }

  async close(): Promise<void> {
    await this.dialog.getByRole("button", { name: "Close" }).click();
  }
}
