import type { Locator, Page } from "@playwright/test";

/** The pages of the OpenID Connect provider; they are not ours. */
export class ProviderPages {
  readonly authorize: Locator;
  readonly endSession: Locator;
  constructor(private readonly page: Page) {
    this.authorize = page.getByRole("button", { name: "Authorize" });
    this.endSession = page.getByRole("button", { name: "End session" });
  }

  /** Fills in the form as the person with this id at the provider. */
  async signInAs(subject: string): Promise<void> {
    await this.page.getByPlaceholder("sub").fill(subject);
    await this.authorize.click();
  }
}
