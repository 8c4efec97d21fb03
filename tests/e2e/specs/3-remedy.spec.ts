import { expect, test } from "@playwright/test";
import { IncidentPage } from "../pages/IncidentPage";
import { IncidentsPage } from "../pages/IncidentsPage";
import { SYMPTOM_MS, CONFIRMED_MS } from "../support/environment";

test("from the incident to the confirmation: ranked causes, dry run, apply, verified by telemetry, undone", async ({
  page,
}) => {
  test.setTimeout(SYMPTOM_MS + CONFIRMED_MS + 120_000);
  // Side effects of a mask plan elsewhere are inhibited, and not open.
  await page.goto("/incidents?symptom=S1&state=open");
  const list = new IncidentsPage(page);
  await expect(list.first).toBeVisible({ timeout: SYMPTOM_MS });
  await list.first.click();

  const incident = new IncidentPage(page);
  await expect(incident.causes.getByRole("listitem").first()).toBeVisible();
  await expect(incident.causes.locator("[data-cause]").first()).toHaveAttribute("data-cause", "C5");
  await expect(incident.evidence).toContainText("Re-offload ratio");
  await incident.acknowledge();
  await expect(page.locator("#content").getByText("Acknowledged", { exact: true })).toBeVisible();
  await expect(page.getByRole("button", { name: "Acknowledge", exact: true })).toHaveCount(0);
  await incident.comment("Counters lag behind max-idle; raising it.");
  await expect(incident.timeline).toContainText("raising it");

  const remedy = await incident.review("tune-revalidator");
  await expect(remedy.apply).toBeDisabled();
  await remedy.dryRun();
  await expect(remedy.progress).toHaveAttribute("data-state", "planned", { timeout: 60_000 });
  await expect(remedy.operations).toContainText("max-idle");
  await remedy.apply.click();
  await expect(remedy.progress).toHaveAttribute("data-state", "verifying", { timeout: 60_000 });
  await expect(remedy.progress).toHaveAttribute("data-state", "confirmed", { timeout: CONFIRMED_MS });

  await remedy.undo.click();
  await expect(remedy.progress).toHaveAttribute("data-state", "undone", { timeout: 60_000 });
});

test("a parameter out of its range is refused before anything is sent", async ({ page }) => {
  await page.goto("/");
  await page.getByTestId("fleet-map").getByRole("listbox").focus();
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Apply a remedy" }).click();
  const dialog = page.getByRole("dialog", { name: /^Remedy/ });
  await dialog.getByLabel("max-idle").fill("3");
  await dialog.getByRole("button", { name: "Dry run" }).click();
  await expect(dialog.getByText("max-idle must be at least 500")).toBeVisible();
});
