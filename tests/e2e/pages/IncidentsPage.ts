import { expect, type Locator, type Page } from "@playwright/test";

/** The list of incidents. */
export class IncidentsPage {
  readonly table: Locator;
  readonly rows: Locator;
  readonly bar: Locator;
  constructor(private readonly page: Page) {
    this.table = page.getByRole("table", { name: "Incidents" });
    this.rows = this.table.locator("[data-incident]");
    this.bar = page.getByRole("toolbar", { name: "Selected incidents" });
  }

  async open(search = ""): Promise<void> {
    await this.page.goto(`/incidents${search}`);
    await expect(this.page.getByRole("heading", { name: "Incidents", level: 1 })).toBeVisible();
  }

  row(id: string): Locator {
    return this.table.locator(`[data-incident="${id}"]`);
  }

  /** The way to the first incident's page. */
  get first(): Locator {
    return this.rows.first().locator("[data-open]");
  }

  /** The row where the keyboard stands. */
  get current(): Locator {
    return this.table.locator("[data-current]");
  }

  async chooseState(name: string): Promise<void> {
    await this.page
      .getByRole("radiogroup", { name: "State" })
      .getByText(new RegExp(`^${name}`))
      .click();
  }
}
