import { expect, test } from "@playwright/test";
import { IncidentsPage } from "../pages/IncidentsPage";
import { SYMPTOM_MS } from "../support/environment";

test("a silence is created from the list, suppresses what it matches, and ends", async ({ page }) => {
  test.setTimeout(SYMPTOM_MS + 120_000);
  const reason = `known, e2e ${Date.now()}`;
  const list = new IncidentsPage(page);
  // Any incident with an active symptom: only such incidents return when the silence ends.
  await list.open("?active=yes");
  await expect(list.first).toBeVisible({ timeout: SYMPTOM_MS });
  await page.keyboard.press("j");
  const id = (await list.current.getAttribute("data-incident")) ?? "";
  await page.keyboard.press("s");
  const dialog = page.getByRole("dialog", { name: "Silence incidents" });
  await expect(dialog.getByRole("status", { name: "Preview" })).toContainText(/[1-9]\d* unresolved incident/);
  await expect(dialog.getByRole("button", { name: "Silence", exact: true })).toBeDisabled();
  await dialog.getByRole("textbox", { name: "Reason" }).fill(reason);
  await dialog.getByRole("button", { name: "1 h", exact: true }).click();
  await dialog.getByRole("button", { name: "Silence", exact: true }).click();
  await expect(dialog).toBeHidden();
  await expect(list.row(id)).toHaveAttribute("data-state", "suppressed", { timeout: 60_000 });
  await page.goto(`/incidents/${id}`);
  await expect(page.getByRole("note")).toContainText(reason);

  await page.goto("/silences?state=active");
  const row = page.getByRole("table", { name: "Silences" }).getByRole("row").filter({ hasText: reason });
  await expect(row).toContainText("active");
  await row.getByRole("button", { name: "Edit…" }).click();
  const change = page.getByRole("dialog", { name: "Edit silence" });
  await change.getByRole("textbox", { name: "Reason" }).fill(`${reason}, longer`);
  await change.getByRole("button", { name: "4 h", exact: true }).click();
  await change.getByRole("button", { name: "Save" }).click();
  await expect(row).toContainText("longer");
  await row.getByRole("button", { name: "End now" }).click();
  await page.getByRole("button", { name: "End it now" }).click();
  await expect(row).toHaveCount(0);
  await page.goto("/silences?state=expired");
  await expect(
    page.getByRole("table", { name: "Silences" }).getByRole("row").filter({ hasText: reason }),
  ).toContainText("expired");
  await page.goto(`/incidents/${id}`);
  await expect(page.getByText("Suppressed", { exact: true })).toHaveCount(0, { timeout: 60_000 });
});

test("maintenance is planned for later and cancelled", async ({ page }) => {
  const reason = `firmware, e2e ${Date.now()}`;
  await page.goto("/silences");
  await page.getByRole("button", { name: "Plan maintenance" }).first().click();
  const dialog = page.getByRole("dialog", { name: "Plan maintenance" });
  await dialog.getByLabel("Value 1").fill("host99");
  await dialog.getByRole("textbox", { name: /^Starts/ }).fill("2099-01-01T10:00");
  await dialog.getByRole("button", { name: "4 h", exact: true }).click();
  await dialog.getByRole("textbox", { name: "Reason" }).fill(reason);
  await dialog.getByRole("button", { name: "Plan maintenance" }).click();
  const row = page.getByRole("table", { name: "Silences" }).getByRole("row").filter({ hasText: reason });
  await expect(row).toContainText("pending");
  await row.getByRole("button", { name: "Cancel…" }).click();
  await page.getByRole("button", { name: "Cancel silence" }).click();
  await expect(row).toHaveCount(0);
});
