import type { Locator, Page } from "@playwright/test";
import { expect } from "@playwright/test";

/** The pages of the OpenID Connect provider `oidc-provider-mock`; they are not ours. */
export class LenientProviderPages {
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

/** The pages of the OpenID Connect provider `oidc-provider`; they are not ours. */
export class StrictProviderPages {
  readonly signOut: Locator;
  constructor(private readonly page: Page) {
    this.signOut = page.getByRole("button", { name: "Yes, sign me out" });
  }

  /** Fills in the form as the person with this id and consents, or is led straight back by a session that the provider still has. */
  async signInAs(subject: string): Promise<void> {
    const name = this.page.getByPlaceholder("Enter any login");
    const back = this.page.getByRole("heading", { level: 1, name: /^(Incidents|Not signed in)$/ });
    await expect(name.or(back)).toBeVisible();
    if (await back.isVisible()) return;
    await name.fill(subject);
    await this.page.getByPlaceholder("and password").fill("any");
    await this.page.getByRole("button", { name: "Sign-in" }).click();
    await this.page.getByRole("button", { name: "Continue" }).click();
  }
}
