import { expect, type Locator, type Page } from "@playwright/test";

/** A page of the side bar. */
export type Place =
  | "Fleet"
  | "Incidents"
  | "Silences"
  | "Forecasts"
  | "Tenants"
  | "Lab"
  | "Captures"
  | "Functions"
  | "Remedies"
  | "Rollouts"
  | "Policies"
  | "Hosts"
  | "Profiles"
  | "Webhooks"
  | "Settings";

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

  async signOut(): Promise<void> {
    await this.page.getByRole("button", { name: /^Account of/ }).click();
    await this.page.getByRole("menuitem", { name: "Sign out" }).click();
  }
}
