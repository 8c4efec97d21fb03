import { expect, type APIRequestContext, type Locator, type Page } from "@playwright/test";

export interface Promised {
  name: string;
  minMbps: number;
  maxMbps: number;
}

export interface Rnic {
  host: string;
  pci: string;
}

/** What tenants are promised: SLO classes, the rules that assign them, and the VFs that get them. */
export class TenantsPage {
  readonly rules: Locator;
  readonly preview: Locator;
  /** VFs with the promise that the rules, as they stand on the page, give them. */
  readonly assigned: Locator;
  readonly save: Locator;
  /** VFs of one RNIC, on a page of their own. */
  readonly vfs: Locator;
  constructor(private readonly page: Page) {
    this.rules = page.getByRole("region", { name: "Rules" });
    this.preview = page.getByRole("region", { name: "Preview" });
    this.assigned = page.getByRole("table", { name: "VFs and their SLO" }).locator("tbody tr");
    this.save = this.rules.getByRole("button", { name: "Save rules" });
    this.vfs = page.getByRole("table", { name: "VFs and their promises" }).locator("tbody tr");
  }

  async openTab(name: "Broken promises" | "SLOs" | "Monthly report"): Promise<void> {
    await this.page
      .getByRole("navigation", { name: "Tenants" })
      .getByRole("link", { name, exact: true })
      .click({ timeout: 60_000 });
  }

  async openVfs({ host, pci }: Rnic): Promise<void> {
    await this.page.goto(`/tenants/rnics/${host}/${pci}?show=promised`);
    await expect(this.page.getByRole("heading", { name: `VFs of ${host}`, level: 1 })).toBeVisible();
  }

  row(className: string): Locator {
    return this.page.locator(`[data-class="${className}"]`);
  }

  /** The rules that assign a class. */
  rulesOf(className: string): Locator {
    return this.rules.locator("[data-rule]").filter({ hasText: className });
  }

  async create({ name, minMbps, maxMbps }: Promised): Promise<void> {
    await this.page.getByRole("button", { name: "New class" }).click();
    const dialog = this.page.getByRole("dialog", { name: "New SLO class" });
    await dialog.getByRole("textbox", { name: "Name" }).fill(name);
    await this.fill(dialog, { name, minMbps, maxMbps });
    await dialog.getByRole("textbox", { name: /^Loss/ }).fill("1");
    await dialog.getByRole("button", { name: "Create class" }).click();
    await expect(dialog).toBeHidden();
    await expect(this.row(name)).toContainText("no rule");
  }

  /** Changes the rates of a class and sends them; the dialog, which stays where the server refuses them. */
  async change(promised: Promised): Promise<Locator> {
    await this.page.getByRole("button", { name: `Edit class ${promised.name}` }).click();
    const dialog = this.page.getByRole("dialog", { name: `Edit SLO class ${promised.name}` });
    await this.fill(dialog, promised);
    await dialog.getByRole("button", { name: "Save" }).click();
    return dialog;
  }

  async delete(className: string): Promise<void> {
    await this.page.getByRole("button", { name: `Delete class ${className}` }).click();
    await expect(this.row(className)).toHaveCount(0);
  }

  /** A rule about one RNIC, on the page only: it is not saved yet. */
  async addRule({ host, pci }: Rnic, className: string): Promise<void> {
    await this.rules.getByRole("button", { name: "Add rule" }).click();
    const dialog = this.page.getByRole("dialog", { name: "Add a rule" });
    await this.choose(dialog, "Label 1", "host");
    await dialog.getByRole("textbox", { name: "Value 1" }).fill(host);
    await dialog.getByRole("button", { name: "Add condition" }).click();
    await this.choose(dialog, "Label 2", "PCI address");
    await dialog.getByRole("textbox", { name: "Value 2" }).fill(pci);
    await this.choose(dialog, /^Get the SLO class/, className);
    await dialog.getByRole("button", { name: "Add rule" }).click();
    await expect(dialog).toBeHidden();
    await expect(this.rulesOf(className)).toContainText(`host is ${host}, PCI address is ${pci}`);
  }

  /** How many VFs would get another promise, of how many; the preview before stands until the one with this class comes. */
  async changes(className: string): Promise<{ changed: number; of: number }> {
    const summary = this.preview.getByText(/ would change/);
    await expect(summary).toContainText(className, { timeout: 60_000 });
    const [changed = NaN, of = NaN] = ((await summary.textContent()) ?? "")
      .replaceAll(",", "")
      .split(" of ")
      .map((part) => parseInt(part, 10));
    return { changed, of };
  }

  private async fill(dialog: Locator, { minMbps, maxMbps }: Promised): Promise<void> {
    await dialog.getByRole("textbox", { name: /^Guaranteed/ }).fill(String(minMbps));
    await dialog.getByRole("textbox", { name: /^At most/ }).fill(String(maxMbps));
  }

  private async choose(dialog: Locator, field: string | RegExp, option: string): Promise<void> {
    // The role of a field that opens a list differs between versions of the component; its label does not.
    await dialog.getByLabel(field).and(this.page.locator("input")).click();
    await this.page.getByRole("option", { name: option, exact: true }).click();
  }
}

/** Without rules and classes whose name begins so, however the test before ended: other specs run on the same stack. */
export async function withdraw(request: APIRequestContext, prefix: string): Promise<void> {
  const api = "/api/v1/isolation";
  const session = (await (await request.get("/api/v1/session")).json()) as { csrf_token: string };
  const headers = (version: number) => ({ "X-CSRF-Token": session.csrf_token, "If-Match": `"${version}"` });
  const stored = (await (await request.get(`${api}/slo-rules`)).json()) as {
    rules: { slo_class: string }[];
    version: number;
  };
  const rules = stored.rules.filter((rule) => !rule.slo_class.startsWith(prefix));
  if (rules.length < stored.rules.length)
    expect(await request.put(`${api}/slo-rules`, { headers: headers(stored.version), data: { rules } })).toBeOK();
  const classes = (await (await request.get(`${api}/slo-classes`)).json()) as { name: string; version: number }[];
  for (const { name, version } of classes.filter((each) => each.name.startsWith(prefix)))
    expect(await request.delete(`${api}/slo-classes/${name}`, { headers: headers(version) })).toBeOK();
}
