import { expect, type Locator, type Page } from "@playwright/test";

/** From the top of a chart to its band of symptoms. */
const BAND_PX = 27;

export type RnicTab = "Overview" | "Flows & masks" | "VFs" | "Policies" | "Forecast" | "Hardware";

export class RnicPage {
  readonly limits: Locator;
  readonly incidents: Locator;
  readonly ribbon: Locator;
  readonly range: Locator;
  constructor(private readonly page: Page) {
    this.limits = page.getByRole("region", { name: "Limits" });
    this.incidents = page.getByRole("region", { name: "Symptoms and incidents" });
    this.ribbon = page.getByRole("group", { name: "Symptoms and changes" });
    this.range = page.getByRole("group", { name: "Time range" });
  }

  chart(title: RegExp): Locator {
    return this.page.getByRole("img", { name: title });
  }

  async expectPainted(title: RegExp): Promise<void> {
    await expect(this.chart(title).first()).toHaveAttribute("data-painted", "true");
  }

  async openTab(name: RnicTab): Promise<void> {
    const tab = this.page.getByRole("tab", { name, exact: true });
    await tab.click();
    await expect(tab).toHaveAttribute("aria-selected", "true");
  }

  /** By its words, such as `Last 5 minutes`. */
  async chooseRange(name: string): Promise<void> {
    await this.range.locator("[data-range]").click();
    await this.page.getByRole("radio", { name, exact: true }).click();
    await expect(this.range.locator("[data-range]")).toHaveAttribute("data-range", name);
  }

  /** Drags over a chart until the page shows that time: what loads above a chart moves it under the mouse. */
  async brush(title: RegExp): Promise<void> {
    await this.expectPainted(title);
    await expect(async () => {
      await this.drag(title);
      await expect(this.page).toHaveURL(/from=.+&to=/, { timeout: 5_000 });
    }).toPass({ timeout: 60_000 });
  }

  /** Clicks on the band of symptoms at the top of a chart, below one of the ribbon's intervals. */
  async openIncidentIn(title: RegExp, interval: Locator): Promise<void> {
    await this.expectPainted(title);
    await expect(async () => {
      const [chart, above] = [await this.chart(title).first().boundingBox(), await interval.boundingBox()];
      if (!chart || !above) throw new Error("The chart or the ribbon has no size.");
      await this.page.mouse.click(above.x + above.width / 2, chart.y + BAND_PX);
      await expect(this.page).toHaveURL(/\/incidents\//, { timeout: 5_000 });
    }).toPass({ timeout: 60_000 });
  }

  private async drag(title: RegExp): Promise<void> {
    const chart = this.chart(title).first();
    await chart.scrollIntoViewIfNeeded();
    const box = await chart.boundingBox();
    if (!box) throw new Error(`The chart ${String(title)} has no size.`);
    const y = box.y + box.height / 2;
    await this.page.mouse.move(box.x + box.width * 0.4, y);
    await this.page.mouse.down();
    await this.page.mouse.move(box.x + box.width * 0.5, y, { steps: 3 });
    await this.page.mouse.move(box.x + box.width * 0.7, y, { steps: 3 });
    await this.page.mouse.up();
  }
}
