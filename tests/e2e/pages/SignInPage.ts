import type { Locator, Page } from "@playwright/test";

export class SignInPage {
  readonly alert: Locator;
  /** Shows the form for passwords, where they are for emergencies only. */
  readonly revealPassword: Locator;
  constructor(private readonly page: Page) {
    this.alert = page.getByRole("alert");
    this.revealPassword = page.getByRole("button", { name: "Sign in as an administrator with a password" });
  }

  /** Leads to the OpenID Connect provider. */
  provider(label: string): Locator {
    return this.page.getByRole("link", { name: `Sign in with ${label}` });
  }

  async signIn(username: string, password: string): Promise<void> {
    await this.page.getByLabel("User name", { exact: true }).fill(username);
    await this.page.getByLabel("Password", { exact: true }).fill(password);
    await this.page.getByRole("button", { name: "Sign in" }).click();
  }
}
