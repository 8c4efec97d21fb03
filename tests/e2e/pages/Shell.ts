import { expect, type Locator, type Page } from "@playwright/test";

export type Place =
  "Fleet" | "Incidents" | "Silences" | "Policies" | "Remedies" | "Agents" | "Webhooks" | "Settings" | "Tenants" | "Lab";

/** What is around every page. */
export class Shell {
  readonly connection: Locator;
  constructor(private readonly page: Page) {
    this.connection = page.getByTestId("connection");
  }

  async goTo(place: Place): Promise<void> {
    await this.page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: place }).click();
  }

  async expectLive(): Promise<void> {
    await expect(this.connection).toHaveAttribute("data-status", "live");
  }

  async switchTheme(to: "light" | "dark"): Promise<void> {
    await this.page.getByRole("button", { name: `Switch to the ${to} theme` }).click();
    await expect(this.page.locator("html")).toHaveAttribute("data-mantine-color-scheme", to);
  }

  async signOut(): Promise<void> {
    await this.page.getByRole("button", { name: /^Account of/ }).click();
    await this.page.getByRole("menuitem", { name: "Sign out" }).click();
  }
}
