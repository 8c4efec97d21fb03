import type { Locator, Page } from "@playwright/test";

export class WebhooksPage {
  readonly log: Locator;
  constructor(private readonly page: Page) {
    this.log = page.getByRole("table", { name: "Deliveries" });
  }

  async open(): Promise<void> {
    await this.page.goto("/webhooks");
  }

  row(name: string): Locator {
    return this.page.locator(`[data-webhook="${name}"]`);
  }

  /** Adds a webhook and returns its secret, which is shown only then. */
  async add(name: string, url: string): Promise<string> {
    await this.page.getByRole("button", { name: "Add webhook" }).click();
    const dialog = this.page.getByRole("dialog", { name: "Add webhook" });
    await dialog.getByLabel("Name").fill(name);
    await dialog.getByLabel("URL").fill(url);
    await dialog.getByRole("button", { name: "Add", exact: true }).click();
    const secret = (await dialog.getByLabel("Signing secret", { exact: true }).textContent()) ?? "";
    await dialog.getByRole("button", { name: "Done" }).click();
    return secret;
  }

  async sendTest(name: string): Promise<void> {
    await this.row(name).getByRole("button", { name: "Send test" }).click();
  }

  async remove(name: string): Promise<void> {
    await this.row(name).getByRole("button", { name: "Delete" }).click();
    await this.page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  }
}
