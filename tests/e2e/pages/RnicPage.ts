import { expect, type Locator, type Page } from "@playwright/test";

export class RnicPage {
  readonly walls: Locator;
  readonly series: Locator;
  readonly chain: Locator;
  readonly incidents: Locator;
  constructor(private readonly page: Page) {
    this.walls = page.getByRole("region", { name: "Walls" });
    this.series = page.getByRole("region", { name: "Series" });
    this.chain = page.getByRole("region", { name: "Mask chain" });
    this.incidents = page.getByRole("region", { name: "Symptoms and incidents" });
  }

  chart(title: RegExp): Locator {
    return this.page.getByRole("img", { name: title });
  }

  async expectPainted(title: RegExp): Promise<void> {
    await expect(this.chart(title).first()).toHaveAttribute("data-painted", "true");
  }

  async chooseRange(name: string): Promise<void> {
    await this.page.getByRole("radiogroup", { name: "Time range" }).getByText(name, { exact: true }).click();
  }
}
