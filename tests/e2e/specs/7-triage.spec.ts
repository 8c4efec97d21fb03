import { expect, test } from "@playwright/test";
import { IncidentPage } from "../pages/IncidentPage";
import { IncidentsPage } from "../pages/IncidentsPage";
import { RnicPage } from "../pages/RnicPage";
import { Shell } from "../pages/Shell";
import { FleetPage } from "../pages/FleetPage";
import { expectAccessible } from "../support/axe";
import { countClicks } from "../support/clicks";
import { SYMPTOM_MS, CONFIRMED_MS } from "../support/environment";

/** A symptom clears, and its incident is then held for some time before the system resolves it. */
const OVER_MS = 240_000;

test("triage from the fleet to the resolution: found, assigned, ranked causes, dry run, remedied, confirmed, cleared, resolved, undone", async ({
  page,
}) => {
  test.setTimeout(SYMPTOM_MS + CONFIRMED_MS + 2 * OVER_MS + 240_000);
  const clicks = await countClicks(page);
  const fleet = new FleetPage(page);
  await fleet.open();
  await expect(fleet.sick("S1")).toBeVisible({ timeout: SYMPTOM_MS });
  await fleet.sick("S1").click();
  await expect(page).toHaveURL(/\/rnics\/host\d+\/0000/);
  expect(await clicks(), "the sick RNIC is one click away").toBe(1);
  // A machine that stalls may have given the RNIC an incident of another kind, too.
  const ofS1 = new RnicPage(page).incidents.getByRole("listitem").filter({ hasText: /S[145]/ });
  await ofS1.getByRole("link").first().click();

  const incident = new IncidentPage(page);
  await expect(incident.causes.locator("[data-cause]").first()).toHaveAttribute("data-cause", "C5");
  await expect(incident.evidence).toContainText("Re-offload ratio");
  await expect(page.getByRole("region", { name: "What happened" })).toContainText(/\w/);
  await expect(page.getByRole("region", { name: "Recent changes" })).toBeVisible();
  await expect(page.getByRole("region", { name: "Affected containers" })).toBeVisible();
  await expect(page.getByRole("region", { name: "Evidence charts" }).getByRole("img").first()).toHaveAttribute(
    "data-painted",
    "true",
  );
  if (await page.getByRole("button", { name: "Acknowledge", exact: true }).isVisible()) await page.keyboard.press("a");
  await expect(page.locator("#content").getByText("Acknowledged", { exact: true })).toBeVisible();
  // Acknowledging an unassigned incident assigns it.
  await expect(page.getByText(/^assigned to /)).toBeVisible();

  const remedy = await incident.review("tune-revalidator");
  await expect(remedy.apply).toBeDisabled();
  await remedy.dryRun();
  await expect(remedy.progress).toHaveAttribute("data-state", "planned", { timeout: 60_000 });
  await expect(remedy.operations).toContainText("max-idle");
  await remedy.apply.click();
  expect(await clicks(), "from the fleet to an applied remedy").toBeLessThanOrEqual(5);
  await expect(remedy.progress).toHaveAttribute("data-state", /^(verifying|confirmed)$/, { timeout: 60_000 });
  await expect(remedy.progress).toHaveAttribute("data-state", "confirmed", { timeout: CONFIRMED_MS });
  await remedy.close();
  await expect(incident.applied).toContainText("Change confirmed");
  await expect(incident.applied.getByRole("img").first()).toHaveAttribute("data-painted", "true", { timeout: 60_000 });

  await expect(incident.presence).toContainText("cleared", { timeout: OVER_MS });
  await expect(page.getByText("Resolved", { exact: true })).toBeVisible({ timeout: OVER_MS });
  await expect(incident.timeline).toContainText("resolved");
  await incident.comment("Counters lagged behind max-idle; it was raised.");
  await expect(incident.timeline).toContainText("it was raised");

  await incident.applied.getByRole("button", { name: "Open", exact: true }).click();
  await remedy.undo.click();
  await expect(remedy.progress).toHaveAttribute("data-state", "undone", { timeout: 60_000 });
});

test("the list is worked through by keyboard, and what was done can be undone", async ({ page }) => {
  test.setTimeout(SYMPTOM_MS + 60_000);
  const list = new IncidentsPage(page);
  await list.open("?state=all");
  await expect(list.first).toBeVisible({ timeout: SYMPTOM_MS });
  await page.keyboard.press("j");
  await expect(list.current).toHaveCount(1);
  const id = (await list.current.getAttribute("data-incident")) ?? "";
  await page.keyboard.press("Space");
  const peek = page.getByRole("complementary", { name: "Peek" });
  await expect(peek.getByRole("link", { name: /^Open/ })).toHaveAttribute("href", new RegExp(id));
  await expectAccessible(page);
  await page.keyboard.press("Escape");
  await expect(peek).toBeHidden();
  await page.keyboard.press("x");
  await expect(list.bar).toContainText("1 incident selected");
  await list.bar.getByRole("button", { name: "Reopen" }).click();
  await expect(page.getByText(/incidents? reopened/)).toBeVisible();
  await expectAccessible(page); // with its notice
  await expect(list.bar).toBeHidden();
  await page.keyboard.press("r");
  await expect(list.row(id)).toHaveAttribute("data-state", "resolved");
  await page.getByRole("button", { name: "Undo" }).last().click();
  await expect(list.row(id)).not.toHaveAttribute("data-state", "resolved");
  await page.keyboard.press("a");
  await expect(list.row(id)).toHaveAttribute("data-state", "acknowledged");
  await page.keyboard.press("z");
  await expect(list.row(id)).toHaveAttribute("data-state", /^(open|reopened)$/);
  await page.keyboard.press("g");
  await page.keyboard.press("r");
  await expect(page.getByRole("heading", { name: "Remedies", level: 1 })).toBeVisible();
  await list.open("?state=all");
  await expect(list.row(id)).not.toHaveAttribute("data-state", "resolved");
  await page.keyboard.press("j");
  await page.keyboard.press("e");
  await expect(page).toHaveURL(/\/incidents\/[0-9a-f-]{36}$/);
  await new IncidentPage(page).acknowledge();
  await expect(page.locator("#content").getByText("Acknowledged", { exact: true })).toBeVisible();
  await expect(page.getByRole("button", { name: "Acknowledge", exact: true })).toHaveCount(0);
});

test("filters are in the address, are counted, and can be kept as a view", async ({ page }) => {
  test.setTimeout(SYMPTOM_MS + 60_000);
  const list = new IncidentsPage(page);
  await list.open("?state=all");
  await expect(list.first).toBeVisible({ timeout: SYMPTOM_MS });
  await page.getByRole("combobox", { name: "Symptom" }).click();
  await page.getByRole("option", { name: /^S1 .*\([1-9]\d*\)$/ }).click();
  await expect(page).toHaveURL(/symptom=S1/);
  await page.keyboard.press("Escape");
  await page.getByRole("combobox", { name: "Group by" }).click();
  await page.getByRole("option", { name: "By host" }).click();
  await expect(page).toHaveURL(/group=host/);
  const group = list.table.getByRole("button", { name: /^host\d+.*incident/ }).first();
  await expect(group).toHaveAttribute("aria-expanded", "true");
  await expect(list.first).toBeVisible();
  await page.getByRole("button", { name: "Collapse all groups" }).click();
  await expect(list.rows).toHaveCount(0);
  await group.click();
  await expect(list.first).toBeVisible();
  await page.getByRole("button", { name: /^Views?/ }).click();
  await page.getByRole("menuitem", { name: "Save these filters as a view…" }).click();
  const name = `S1 ever ${Date.now()}`;
  await page.getByRole("dialog").getByLabel("Name").fill(name);
  await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
  await expect(page.getByRole("button", { name: `View: ${name}` })).toBeVisible();
  await list.open();
  await page.getByRole("button", { name: /^View: Unresolved/ }).click();
  await page.getByRole("menuitem", { name }).click();
  await expect(page).toHaveURL(/symptom=S1/);
  await expect(page).toHaveURL(/state=all/);
  await expect(page).toHaveURL(/group=host/);
  await page.getByRole("button", { name: `View: ${name}` }).click();
  await page.getByRole("menuitem", { name: /^Delete the view/ }).click();
  await expect(page.getByRole("button", { name: "Views" })).toBeVisible();
});

test("an export holds the incidents that match", async ({ page }) => {
  const list = new IncidentsPage(page);
  await list.open("?state=all");
  await expect(list.first).toBeVisible({ timeout: SYMPTOM_MS });
  await page.getByRole("button", { name: "Export" }).click();
  const [file] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("menuitem", { name: "CSV" }).click(),
  ]);
  expect(file.suggestedFilename()).toMatch(/\.csv$/);
  const chunks: Buffer[] = [];
  for await (const chunk of await file.createReadStream()) chunks.push(chunk as Buffer);
  expect(Buffer.concat(chunks).toString("utf8")).toMatch(/^id,[^\n]*\n[0-9a-f-]{36},/);
});

test("the page of a symptom shows its definition and where it is", async ({ page }) => {
  await page.goto("/symptoms/S1");
  await expect(page.getByRole("table", { name: "Conditions" })).toContainText("Re-offload ratio");
  await expect(page.getByRole("table", { name: "Conditions" })).toContainText(/at least \d/);
  await expect(page.getByRole("table", { name: "Causes" })).toContainText("C5");
  await page.getByRole("navigation", { name: "Symptoms" }).getByRole("link", { name: "S6" }).click();
  await expect(page.getByRole("heading", { name: "Poor performance of specific flows", level: 1 })).toBeVisible();
  await new Shell(page).expectLive();
});
