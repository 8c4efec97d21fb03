import { expect, test } from "@playwright/test";
import { expectAccessible } from "../support/axe";

/** Each wave is verified as soon as the agent has read the pace back and telemetry confirms it. */
const ROLLOUT_MS = 90_000;

test("a rollout over several RNICs from the fleet: dry run on the canary, waves, confirmed, rolled back as a whole", async ({
  page,
}) => {
  test.setTimeout(3 * ROLLOUT_MS);
  await page.goto("/?q=0000:3b:00.0");
  await page.getByRole("link", { name: /^Roll out a remedy to these/ }).click();
  await expect(page.getByRole("heading", { name: "Roll out a remedy", level: 1 })).toBeVisible();
  await page.getByRole("combobox", { name: "Action" }).click();
  await page.getByRole("option", { name: "Rate-limit VF unbinding" }).click();
  await page.getByLabel("Interval").fill("100");
  await page.getByLabel("Reason").fill("Before the large job of tonight");
  const what = page.getByRole("group", { name: "What will happen" });
  await expect(what).toContainText(/first \S+ 0000:3b:00\.0 alone, then/);
  await expectAccessible(page);

  await expect(page.getByRole("button", { name: /^(Start rollout|Request approval)$/ })).toBeDisabled();
  // Two are enough, and so few need no second person.
  const reached = page.getByRole("checkbox", { name: /^Select / });
  for (let i = (await reached.count()) - 1; i > 1; i--) await reached.nth(i).uncheck();
  await page.getByRole("button", { name: "Dry run" }).click();
  await page.getByRole("button", { name: "Start rollout" }).click({ timeout: 60_000 });
  const state = page.getByTestId("rollout-state");
  await expect(state).toHaveAttribute("data-state", "running");
  await expect(state).toHaveAttribute("data-state", "confirmed", { timeout: ROLLOUT_MS });
  await expect(page.getByRole("region", { name: "Canary: 1 of 1 confirmed" })).toBeVisible();
  const rollout = page.url();
  await page
    .getByRole("link", { name: /^Remedy on / })
    .first()
    .click();
  await expect(page.getByRole("dialog", { name: "Remedy" })).toContainText("part of a rollout");

  // Rolled back as a whole, the canary last; a reason is required.
  await page.goto(rollout);
  await page.getByRole("button", { name: "Roll back…" }).click();
  const asked = page.getByRole("dialog", { name: "Roll back rollout" });
  await expect(asked.getByRole("button", { name: "Roll back" })).toBeDisabled();
  await asked.getByLabel("Reason").fill("The job is done");
  await asked.getByRole("button", { name: "Roll back" }).click();
  await expect(state).toHaveAttribute("data-state", "undone", { timeout: ROLLOUT_MS });
  await expect(page.getByText("2 of 2 rolled back")).toBeVisible();
});
