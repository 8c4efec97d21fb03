import { expect, type Locator, type Page } from "@playwright/test";
import type { Output } from "../support/perftest";

/** One model of RNIC: its versions, and what is done with them. */
export class ProfilePage {
  readonly versions: Locator;
  constructor(private readonly page: Page) {
    this.versions = page.getByRole("table", { name: "Versions" });
  }

  async open(model: string): Promise<void> {
    await this.page.goto(`/profiles/${model}`);
    await expect(this.versions).toBeVisible({ timeout: 60_000 });
  }

  version(number: number): Locator {
    return this.versions.locator(`[data-version="${number}"]`);
  }

  /** Upload files and fit; the number of the version that came of it. */
  async calibrate(files: Output[], note: string): Promise<number> {
    await this.page.getByRole("button", { name: "Upload perftest files…" }).click();
    const dialog = this.page.getByRole("dialog", { name: /^Calibrate/ });
    const chooser = this.page.waitForEvent("filechooser");
    await dialog.getByRole("button", { name: "perftest output files" }).click();
    await (await chooser).setFiles(files);
    await dialog.getByRole("textbox", { name: "Note" }).fill(note);
    await dialog.getByRole("button", { name: "Fit" }).click();
    await expect(this.versions.getByText(note)).toBeVisible({ timeout: 90_000 });
    const row = this.versions.locator("[data-version]").filter({ hasText: note });
    return Number(await row.getAttribute("data-version"));
  }

  /** Promote or roll back with a reason. */
  async change(button: string, submit: string, reason: string): Promise<void> {
    await this.page.getByRole("button", { name: button, exact: true }).click();
    const dialog = this.page.getByRole("dialog");
    await dialog.getByRole("textbox", { name: "Reason" }).fill(reason);
    await dialog.getByRole("button", { name: submit, exact: true }).click();
    await expect(dialog).toBeHidden();
  }
}
