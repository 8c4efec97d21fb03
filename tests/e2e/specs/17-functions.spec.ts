import { expect, test } from "@playwright/test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expectAccessible } from "../support/axe";
import { FunctionsPage } from "../pages/FunctionsPage";

const REPOSITORY = join(__dirname, "..", "..", "..");
/** Where the picture of the documentation goes: E2E_SCREENSHOTS=docs/images tests/e2e/run specs/17-functions.spec.ts */
const folder = process.env["E2E_SCREENSHOTS"];
const EXAMPLES = join(REPOSITORY, "docs", "examples", "functions");
const filesOf = (name: string) => readdirSync(join(EXAMPLES, name)).map((file) => join(EXAMPLES, name, file));

test("profiles become models, a what-if and a placement", async ({ page }) => {
  test.setTimeout(180_000);
  const functions = new FunctionsPage(page);

  await functions.openModels();
  for (const name of ["firewall", "ids"]) {
    await functions.upload(filesOf(name));
    await functions.promoteNewest(name, "profiled in the browser test");
    await functions.setTerms(name, "20");
  }
  await expectAccessible(page);

  await functions.openCard();
  await functions.add("ids");
  await expect(functions.answer).toContainText("Yes");
  await functions.addToPlan();
  await functions.add("ids");
  await functions.slide(functions.addPanel, "Matches per MB", "End");
  await functions.addToPlan();
  await functions.slide(functions.whatIf, "Matches per MB", "End");
  // Two functions that keep the accelerator busy halve each other: an SLA of 20% breaks.
  await expect(functions.resident("ids")).toContainText("accelerator");
  await expect(functions.resident("ids")).toContainText("broken");
  await expectAccessible(page);
  if (folder) {
    await page.mouse.move(0, 0);
    await page.screenshot({ path: join(REPOSITORY, folder, "functions.png") });
  }
  const address = page.url();
  await page.goto(address);
  await expect(functions.resident("ids-2")).toContainText("accelerator");

  await functions.openPlacement();
  await functions.functionsField.fill(
    "a, ids, 8000, 1518, 900, 1, 0.2, node1/bf2\nb, ids, 8000, 1518, 900, 1, 0.2, node1/bf2",
  );
  await functions.place();
  await expect(functions.plan("Proposed")).toContainText("none");
  await expect(functions.plan("Present")).toContainText("2");
  await expectAccessible(page);
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Download Kubernetes node affinity" }).click(),
  ]);
  expect(download.suggestedFilename()).toBe("node-affinity.json");
});
