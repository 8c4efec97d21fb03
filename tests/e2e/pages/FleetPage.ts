import { expect, type Locator, type Page } from "@playwright/test";

export class FleetPage {
  readonly map: Locator;
  readonly keys: Locator;
  readonly focused: Locator;
  readonly attention: Locator;
  constructor(private readonly page: Page) {
    this.map = page.getByTestId("fleet-map");
    this.keys = this.map.getByRole("listbox", { name: /^Fleet,/ });
    this.focused = this.keys.getByRole("option");
    this.attention = page.getByTestId("attention");
  }

  async open(search = ""): Promise<void> {
    await this.page.goto(`/${search}`);
  }

  /** The number of RNICs that the canvas shows, once it has painted. */
  async painted(): Promise<number> {
    await expect(this.map).toHaveAttribute("data-painted", /^[1-9]\d*$/);
    return Number(await this.map.getAttribute("data-painted"));
  }

  /** The first RNIC of the attention list that has this symptom. */
  sick(symptom: string): Locator {
    return this.attention
      .getByRole("link")
      .filter({ has: this.page.getByText(symptom, { exact: true }) })
      .first();
  }
}
