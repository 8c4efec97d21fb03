import { expect, test } from "@playwright/test";
import { RemedyDialog } from "../pages/IncidentPage";
import { PlanPage } from "../pages/PlanPage";
import { RnicPage } from "../pages/RnicPage";
import { FleetPage } from "../pages/FleetPage";
import { expectAccessible } from "../support/axe";
import { SYMPTOM_MS } from "../support/environment";

/** Flows are read, planned and proven; the steps are paced, so those of some hundred flows take seconds. */
const PLANNED_MS = 120_000;
const APPLIED_MS = 120_000;

test("a mask plan from the RNIC's page: proven, dry run, applied, expected vs. measured, undone", async ({ page }) => {
  test.setTimeout(SYMPTOM_MS + 4 * APPLIED_MS);
  const fleet = new FleetPage(page);
  await fleet.open();
  await expect(fleet.sick("S6")).toBeVisible({ timeout: SYMPTOM_MS });
  await fleet.sick("S6").click();
  await new RnicPage(page).openTab("Flows & masks");
  const plan = new PlanPage(page);
  await plan.make(PLANNED_MS);

  await expect(plan.state).toHaveAttribute("data-state", "ready");
  await expect(plan.proof).toContainText("Proven equivalent");
  await expect(plan.chain("Egress")).toContainText("moved up");
  await expect(plan.effect).toContainText("Bandwidth");
  await expectAccessible(page);

  await page.getByRole("button", { name: "Review and apply" }).click();
  const remedy = new RemedyDialog(page);
  await expect(remedy.apply).toBeDisabled();
  await remedy.dryRun();
  await expect(remedy.progress).toHaveAttribute("data-state", "planned", { timeout: PLANNED_MS });
  await remedy.apply.click();
  await expect(remedy.progress).toHaveAttribute("data-state", /verifying|confirmed/, { timeout: APPLIED_MS });
  await remedy.close();

  await expect(plan.check).toHaveAttribute("data-state", "equivalent", { timeout: APPLIED_MS });
  await expect(plan.effect.getByRole("columnheader", { name: "Measured since" })).toBeVisible({ timeout: APPLIED_MS });
  await expect(plan.measured("Lookups at the sender, Q_l")).toHaveText(/\d/, { timeout: APPLIED_MS });

  await page.getByRole("button", { name: "Open remedy" }).click();
  await remedy.undo.click();
  await expect(remedy.progress).toHaveAttribute("data-state", "undone", { timeout: APPLIED_MS });
});
