import { expect, test } from "@playwright/test";
import { PolicyEditorPage } from "../pages/PolicyEditorPage";
import { Shell } from "../pages/Shell";
import { expectAccessible } from "../support/axe";

test("a policy is written, tried out, enabled and delivered", async ({ page }) => {
  test.setTimeout(180_000);
  const title = `A port that went down comes up, e2e ${Date.now()}`;
  await page.goto("/");
  await new Shell(page).goTo("Policies");
  await expect(page.getByRole("table", { name: "Policies" }).locator("[data-policy]").first()).toBeVisible();
  const editor = new PolicyEditorPage(page);
  await editor.open();

  await editor.formula.fill("G(DOWN -> X(!GONE W )");
  await expect(editor.problem).toContainText("At character 21", { timeout: 60_000 });
  await editor.formula.fill("F UP");
  await expect(editor.problem).toContainText("timeout event");
  await editor.formula.fill("G(DOWN -> X(!GONE W UP))");
  await expect(editor.problem).toContainText("no event sets DOWN yet");
  await editor.bind("DOWN", "Port down");
  await editor.bind("GONE", "RNIC vanished");
  await editor.bind("UP", "Port up");
  await expect(editor.problem).toBeEmpty();
  await expect(page.getByRole("img", { name: /^Automaton with 3 states/ })).toBeVisible();

  await editor.bench.getByRole("button", { name: "Show a violation" }).click();
  await expect(editor.verdict(2)).toHaveText("violated");
  await editor.bench.getByRole("button", { name: "UP in step 2" }).click();
  await expect(editor.verdict(2)).toHaveText("open");
  await expect(page.getByRole("img", { name: /now in state/ })).toBeVisible();
  await editor.backtest.getByRole("button", { name: "Run the backtest" }).click();
  await expect(editor.backtest.locator("[data-violations]")).toBeVisible({ timeout: 60_000 });
  await expectAccessible(page);

  await page.getByRole("textbox", { name: "Title" }).fill(title);
  await page
    .getByRole("textbox", { name: "What a violation means" })
    .fill("The RNIC vanished while its port was down.");
  await page.getByRole("button", { name: "Save and enable…" }).click();
  await page.getByRole("button", { name: "Enable", exact: true }).click();
  await expect(page.getByRole("heading", { name: title, level: 1 })).toBeVisible();
  const version = page.getByRole("table", { name: "Versions" }).locator('[data-version="1"]');
  await expect(version).toContainText("(runs)");
  await expect(version.locator("[data-agents]")).not.toHaveText("0", { timeout: 60_000 });
  await expectAccessible(page);

  await page.getByRole("button", { name: "Disable…" }).click();
  await page.getByRole("button", { name: "Disable", exact: true }).click();
  await expect(page.getByText("disabled", { exact: true })).toBeVisible();
  await expect(page.getByRole("list", { name: "History" })).toContainText("disabled it");
});

test("the list is filtered by what stands in the URL", async ({ page }) => {
  await page.goto("/policies?q=heartbeat");
  const rows = page.getByRole("table", { name: "Policies" }).locator("[data-policy]");
  await expect(rows).toHaveCount(1);
  await rows.getByRole("link").first().click();
  await expect(page.getByRole("region", { name: "Verdicts over time" }).getByRole("img").first()).toBeVisible();
  await page.goBack();
  await page.getByRole("button", { name: "Clear filters" }).click();
  await expect(page).toHaveURL(/\/policies$/);
});
