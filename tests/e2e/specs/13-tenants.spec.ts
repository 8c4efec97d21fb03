import { expect, test } from "@playwright/test";
import { readFile } from "node:fs/promises";
import { Shell } from "../pages/Shell";
import { TenantsPage, withdraw } from "../pages/TenantsPage";
import { expectAccessible } from "../support/axe";

/** A healthy RNIC: what is promised to its VFs is kept, or unknown where they have no traffic. */
const RNIC = { host: "host01", pci: "0000:17:00.0" };
const PREFIX = "e2e-";
const FITS = { minMbps: 100, maxMbps: 100_000 };
const TOO_MUCH = { minMbps: 90_000, maxMbps: 100_000 };
const MINIMUM_GBIT = 90;
/** VFs are read every 10 s; job, store and page follow within seconds, on a busy machine within some more. */
const JUDGED_MS = 120_000;
/** A minute must end and be counted. */
const COUNTED_MS = 240_000;

test.afterEach(async ({ page }) => withdraw(page.request, PREFIX));

test("a promise is previewed, given to the VFs of an RNIC, judged and withdrawn", async ({ page }) => {
  test.setTimeout(JUDGED_MS + 180_000);
  const name = `${PREFIX}gold-${Date.now()}`;
  await page.goto("/");
  await new Shell(page).goTo("Tenants");
  const tenants = new TenantsPage(page);
  await tenants.openTab("SLOs");
  await tenants.create({ name, ...FITS });
  await tenants.addRule(RNIC, name);

  const { changed, of } = await tenants.changes(name);
  expect(changed).toBeGreaterThan(0);
  expect(changed).toBeLessThan(of);
  const promised = tenants.assigned.filter({ hasText: name });
  await expect(promised.first()).toContainText(`${RNIC.host} ${RNIC.pci}`);
  await expect(promised.filter({ hasNotText: `${RNIC.host} ${RNIC.pci}` })).toHaveCount(0);
  await tenants.save.click();
  await expect(tenants.save).toBeHidden();
  await expect(tenants.row(name)).toContainText("1 rule");

  const change = await tenants.change({ name, ...TOO_MUCH });
  await expect(change.getByRole("alert")).toContainText("minima_exceed_link");
  await expect(change.getByRole("alert")).toContainText(
    `the minima add up to ${(changed * TOO_MUCH.minMbps).toLocaleString("en")} Mbit/s`,
  );

  await tenants.openVfs(RNIC);
  await expect(tenants.vfs).toHaveCount(changed, { timeout: JUDGED_MS });
  await expect(tenants.vfs.filter({ hasText: name })).toHaveCount(changed);
  await expect(tenants.vfs.locator('[data-state="kept"]').first()).toBeVisible({ timeout: JUDGED_MS });
  await expect(tenants.vfs.locator('[data-state="kept"], [data-state="unknown"]')).toHaveCount(changed);
  await expectAccessible(page);

  await page.goto("/tenants/slos");
  await tenants
    .rulesOf(name)
    .getByRole("button", { name: /^Delete rule/ })
    .click();
  await tenants.save.click();
  await expect(tenants.save).toBeHidden();
  await expect(tenants.assigned.first()).toBeVisible();
  await expect(tenants.assigned.filter({ hasText: name })).toHaveCount(0);
  // The notice with the way back goes by itself, so nothing is waited for before it.
  const restored = page.waitForResponse(
    (answer) => answer.request().method() === "POST" && /slo-classes$/.test(answer.url()),
  );
  await page.getByRole("button", { name: `Delete class ${name}` }).click();
  await page.getByRole("status").getByRole("button", { name: /^Undo/ }).click();
  expect((await restored).status()).toBe(201);
  await expect(tenants.row(name)).toContainText("no rule");
  await tenants.delete(name);
});

test("rules that guarantee more than a link has are refused with the sum", async ({ page }) => {
  test.setTimeout(180_000);
  const name = `${PREFIX}too-much-${Date.now()}`;
  await page.goto("/tenants/slos");
  const tenants = new TenantsPage(page);
  await tenants.create({ name, ...TOO_MUCH });
  await tenants.addRule(RNIC, name);
  const { changed } = await tenants.changes(name);
  const alert = tenants.preview.getByRole("alert");
  await expect(alert).toContainText(
    `The guaranteed rates on ${RNIC.host} ${RNIC.pci} add up to ${(changed * MINIMUM_GBIT).toLocaleString("en")} Gbit/s`,
  );
  await expect(tenants.save).toBeDisabled();
  await expectAccessible(page);
  await tenants.rules.getByRole("button", { name: "Discard changes" }).click();
  await expect(tenants.rulesOf(name)).toHaveCount(0);
  await expect(alert).toBeHidden();
  await tenants.delete(name);
});

test("the report of the month is read by VF and downloaded as CSV", async ({ page }) => {
  test.setTimeout(COUNTED_MS + 60_000);
  await page.goto("/tenants");
  await new TenantsPage(page).openTab("Monthly report");
  await page.getByRole("radiogroup", { name: "Rows" }).getByText("By VF").click();
  await expect(page).toHaveURL(/by=vf/);
  const rows = page.getByRole("table", { name: "SLO report" }).locator("tbody tr");
  // The page asks once a minute; who does not want to wait loads it again.
  await expect(async () => {
    await page.reload();
    await expect(rows.first()).toBeVisible({ timeout: 60_000 });
  }).toPass({ timeout: COUNTED_MS });

  const started = page.waitForEvent("download");
  await page.getByRole("link", { name: "Download CSV" }).click();
  const download = await started;
  const [, month] = /^wallwatch-slo-(20\d\d-\d\d)-by-vf\.csv$/.exec(download.suggestedFilename()) ?? [];
  expect(month, download.suggestedFilename()).toBeDefined();
  const [head, ...lines] = (await readFile(await download.path(), "utf8")).trimEnd().split(/\r?\n/);
  expect(head).toBe(
    "month,objective,tenant,host,pci,vf,pods,vfs,kept_s,broken_s,unknown_s,not_promised_s,aggressor_s,kept_share,budget_s,budget_left_s,met,owners",
  );
  const all = lines.map((line) => line.split(","));
  expect(all.length).toBeGreaterThan(0);
  for (const cells of all) expect(cells.slice(0, 2)).toEqual([month, "0.999"]);
  expect(all.some((cells) => cells[3] === RNIC.host && cells[4] === RNIC.pci)).toBe(true);
});
