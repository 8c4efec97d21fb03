import type { Locator, Page } from "@playwright/test";

export class SignInPage {
  readonly alert: Locator;
  constructor(private readonly page: Page) {
    this.alert = page.getByRole("alert");
  }

  async signIn(username: string, password: string): Promise<void> {
    await this.page.getByLabel("User name", { exact: true }).fill(username);
    await this.page.getByLabel("Password", { exact: true }).fill(password);
    await this.page.getByRole("button", { name: "Sign in" }).click();
  }
}
