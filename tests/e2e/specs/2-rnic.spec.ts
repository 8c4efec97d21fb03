import { expect, test } from "@playwright/test";
import { RnicPage } from "../pages/RnicPage";
import { FleetPage } from "../pages/FleetPage";
import { SYMPTOM_MS } from "../support/environment";

test("the page of the sick RNIC shows its limits, series, mask chain and incident", async ({ page }) => {
  test.setTimeout(SYMPTOM_MS + 60_000);
  const fleet = new FleetPage(page);
  await fleet.open();
  await expect(fleet.sick("S1")).toBeVisible({ timeout: SYMPTOM_MS });
  await fleet.sick("S1").click();
  const rnic = new RnicPage(page);
  await expect(rnic.limits.locator("[data-wall]")).toHaveCount(5);
  await expect(rnic.limits).toContainText(/[\d,]+ \/ [\d,]+ flows/);
  await rnic.expectPainted(/^Flows over time/);
  await expect(rnic.incidents.getByRole("link").first()).toBeVisible();
  await rnic.openTab("Flows & masks");
  await expect(page).toHaveURL(/tab=flows/);
  await rnic.expectPainted(/^Counter gap/);
  await rnic.expectPainted(/^Egress mask chain/);
  await rnic.chooseRange("Last hour");
  await expect(page).toHaveURL(/range=1h/);
  await page.reload();
  await rnic.expectPainted(/^Throughput over time/);
  await rnic.openTab("Hardware");
  await page.getByLabel("Search fields").fill("port_xmit_packets");
  await page.getByRole("checkbox", { name: "Packets sent" }).check();
  await expect(page).toHaveURL(/fields=.*rnic\.port_xmit_packets/);
  await rnic.expectPainted(/^Packets sent over time/);
});

test("a drag over a chart zooms, the browser goes back, and a symptom's band leads to its incident", async ({
  page,
}) => {
  test.setTimeout(SYMPTOM_MS + 60_000);
  const fleet = new FleetPage(page);
  await fleet.open();
  await expect(fleet.sick("S1")).toBeVisible({ timeout: SYMPTOM_MS });
  await fleet.sick("S1").click();
  const rnic = new RnicPage(page);
  await rnic.brush(/^Throughput over time/);
  await expect(page).toHaveURL(/from=.+&to=/);
  const zoomed = page.url();
  await rnic.range.getByRole("button", { name: "Zoom out" }).click();
  await expect(page).not.toHaveURL(zoomed);
  await page.goBack();
  await expect(page).toHaveURL(zoomed);
  await page.goBack();
  await expect(page).not.toHaveURL(/from=/);
  const band = rnic.ribbon.getByRole("link", { name: /^S1 .*Open its incident$/ }).first();
  await band.click();
  await expect(page).toHaveURL(/\/incidents\//);

  // The charts below have the same band, for the mouse, and in their menus for the keyboard.
  await page.goBack();
  await rnic.expectPainted(/^Throughput over time/);
  await page.getByRole("button", { name: "Table and downloads of Throughput" }).press("Enter");
  await page.getByRole("menuitem", { name: "Open the incident of S1" }).press("Enter");
  await expect(page).toHaveURL(/\/incidents\//);
  await page.goBack();
  await rnic.openIncidentIn(/^Throughput over time/, band);
});

test("a copied link shows whoever opens it the very minutes that its sender saw", async ({ page }) => {
  await page.addInitScript(() => {
    const writeText = (text: string) => Promise.resolve(sessionStorage.setItem("copied", text));
    Object.defineProperty(navigator, "clipboard", { value: { writeText } });
  });
  const fleet = new FleetPage(page);
  await fleet.open();
  await fleet.painted();
  await fleet.keys.focus();
  await page.keyboard.press("Enter");
  const sender = new RnicPage(page);
  await sender.expectPainted(/^Throughput over time/);
  await sender.range.getByRole("button", { name: "Copy a link to this moment" }).click();
  await expect.poll(() => page.evaluate(() => sessionStorage.getItem("copied"))).toMatch(/from=.+&to=/);
  const link = (await page.evaluate(() => sessionStorage.getItem("copied"))) ?? "";

  const other = await page.context().newPage();
  const reader = new RnicPage(other);
  for (const opened of ["once", "and again"]) {
    await other.goto(link);
    await reader.expectPainted(/^Throughput over time/);
    expect(new URL(other.url()).searchParams.get("from"), opened).toBe(new URL(link).searchParams.get("from"));
    await expect(reader.range.locator("[data-range]")).toHaveAttribute("data-range", /\d{2}:\d{2}:\d{2} – /);
  }
  await other.close();
});

test("a chart is read as a table", async ({ page }) => {
  const fleet = new FleetPage(page);
  await fleet.open();
  await fleet.painted();
  await fleet.keys.focus();
  await page.keyboard.press("Enter");
  await new RnicPage(page).expectPainted(/^Throughput over time/);
  await page.getByRole("button", { name: "Table and downloads of Throughput" }).click();
  await page.getByRole("menuitem", { name: "Show as table" }).click();
  const table = page.getByRole("dialog", { name: "Throughput" }).getByRole("table");
  await expect(table.getByRole("columnheader", { name: /Gbit\/s/ }).first()).toBeVisible();
  await expect(table.getByRole("row").nth(1)).toContainText(/\d{4}-\d{2}-\d{2}/);
});

test("an unknown RNIC is reported as not found, with the code", async ({ page }) => {
  await page.goto("/rnics/host99/0000:ff:00.0");
  await expect(page.getByRole("alert").first()).toContainText("not_found");
});
