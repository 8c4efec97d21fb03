import { expect, test } from "@playwright/test";

test("every host's agent is connected and healthy, with its version", async ({ page }) => {
  await page.goto("/hosts");
  const rows = page.getByRole("table", { name: "Agents" }).getByRole("row");
  await expect(rows).toHaveCount(9);
  await expect(page.getByText("8 of 8 agents connected")).toBeVisible();
  await expect(rows.nth(1)).toContainText("healthy");
  await expect(rows.nth(1)).toContainText(/\d+\.\d+/);
});

test("an enrolment token is created for one host and shown once", async ({ page }) => {
  await page.goto("/hosts");
  await page.getByRole("button", { name: "Enrol an agent" }).click();
  const dialog = page.getByRole("dialog", { name: "Enrol an agent" });
  await dialog.getByLabel("Host").fill("host77");
  await dialog.getByRole("button", { name: "Create token" }).click();
  await expect(dialog.getByLabel("Enrolment token", { exact: true })).not.toBeEmpty();
  await expect(dialog).toContainText("host77 only");
});

test("the audit log shows who signed in", async ({ page }) => {
  await page.goto("/settings/audit");
  await expect(page.getByRole("table", { name: "Audit log" })).toContainText("session.sign_in");
});
