import { expect, test } from "@playwright/test";

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
