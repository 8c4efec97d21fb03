import { expect, type Locator, type Page } from "@playwright/test";

/** Captures: the upload, the list, and the page of one. */
export class CapturesPage {
  readonly summary: Locator;
  readonly violations: Locator;
  readonly retransmissions: Locator;
  constructor(private readonly page: Page) {
    this.summary = page.getByRole("region", { name: "Summary" });
    this.violations = page.getByTestId("violation");
    this.retransmissions = page.getByTestId("retransmission");
  }

  /** Upload a file; its page is open afterwards, and its analysis is done. */
  async upload(name: string, content: Buffer): Promise<void> {
    await this.page.getByRole("button", { name: "Upload a capture" }).click();
    await this.page
      .locator('input[type="file"]')
      .setInputFiles({ name, mimeType: "application/octet-stream", buffer: content });
    await this.page.getByRole("button", { name: "Upload", exact: true }).click();
    await expect(this.page.getByRole("heading", { name, level: 1 })).toBeVisible({ timeout: 60_000 });
    await expect(this.summary).toBeVisible({ timeout: 120_000 });
  }

  async chartIsPainted(): Promise<void> {
    await expect(this.page.getByRole("img", { name: /PSN over time/ })).toHaveAttribute("data-painted", "true");
  }
}
