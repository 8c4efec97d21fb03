import { expect, test } from "@playwright/test";
import { expectAccessible } from "../support/axe";

/** Each wave is verified as soon as the agent has read the pace back and telemetry has said so. */
const ROLLOUT_MS = 90_000;

test("a remedy goes over several RNICs from the wall: dry run on the canary, waves, verified, taken back as a whole", async ({ page }) => {
  test.setTimeout(3 * ROLLOUT_MS);
  await page.goto("/?q=0000:3b:00.0");
  await page.getByRole("link", { name: /^Roll out a remedy to these/ }).click();
  await expect(page.getByRole("heading", { name: "Roll out a remedy", level: 1 })).toBeVisible();
  await page.getByRole("combobox", { name: "Action" }).click();
  await page.getByRole("option", { name: "Keep releases of the RNIC's VFs apart" }).click();
  await page.getByLabel("Interval").fill("100");
  await page.getByLabel("Reason").fill("Before the large job of tonight");
  const what = page.getByRole("group", { name: "What will happen" });
  await expect(what).toContainText(/first \S+ 0000:3b:00\.0 alone, then/);
  await expectAccessible(page);

  await expect(page.getByRole("button", { name: /the rollout$/ })).toBeDisabled();
  // Two are enough, and so few need no second person.
  const reached = page.getByRole("checkbox", { name: /^Reach / });
  for (let i = (await reached.count()) - 1; i > 1; i--) await reached.nth(i).uncheck();
  await page.getByRole("button", { name: "Dry run" }).click();
  await page.getByRole("button", { name: "Start the rollout" }).click({ timeout: 30_000 });
  const state = page.getByTestId("rollout-state");
  await expect(state).toHaveAttribute("data-state", "running");
  await expect(state).toHaveAttribute("data-state", "verified", { timeout: ROLLOUT_MS });
  await expect(page.getByRole("region", { name: "Canary: 1 of 1 verified" })).toBeVisible();
  const rollout = page.url();
  await page.getByRole("link", { name: /^Remedy on / }).first().click();
  await expect(page.getByRole("dialog", { name: "Remedy" })).toContainText("part of a rollout");

  // Taken back as a whole, the canary last; the reason is asked for.
  await page.goto(rollout);
  await page.getByRole("button", { name: "Undo everywhere…" }).click();
  const asked = page.getByRole("dialog", { name: "Take the rollout back" });
  await expect(asked.getByRole("button", { name: "Take it back" })).toBeDisabled();
  await asked.getByLabel("Reason").fill("The job is done");
  await asked.getByRole("button", { name: "Take it back" }).click();
  await expect(state).toHaveAttribute("data-state", "undone", { timeout: ROLLOUT_MS });
  await expect(page.getByText("2 of 2 taken back")).toBeVisible();
});
