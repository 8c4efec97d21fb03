import { expect, type Locator, type Page } from "@playwright/test";

export class PlanPage {
  readonly state: Locator;
  readonly proof: Locator;
  readonly effect: Locator;
  readonly check: Locator;
  constructor(private readonly page: Page) {
    this.state = page.getByTestId("plan-state");
    this.proof = page.getByRole("region", { name: "Proof" });
    this.effect = page.getByRole("table", { name: "Effect" });
    this.check = page.getByTestId("plan-check");
  }

  /** On the page of an RNIC: makes a plan, and opens it when it is ready. */
  async make(timeout: number): Promise<void> {
    const panel = this.page.getByRole("region", { name: "Mask plans" });
    await panel.getByRole("button", { name: "Create plan" }).click();
    const newest = panel.locator("[data-plan]").first();
    await expect(newest).toHaveAttribute("data-state", "ready", { timeout });
    await newest.getByRole("link").click();
  }

  chain(direction: "Egress" | "Ingress"): Locator {
    return this.page.getByRole("table", { name: new RegExp(`^${direction}`) });
  }

  /** What telemetry shows of a quantity since the plan was applied. */
  measured(quantity: string): Locator {
    return this.effect
      .getByRole("row", { name: new RegExp(`^${quantity}`) })
      .getByRole("cell")
      .last();
  }
}
