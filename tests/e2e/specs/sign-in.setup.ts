import { expect, test } from "@playwright/test";
import { Shell } from "../pages/Shell";
import { SignInPage } from "../pages/SignInPage";
import { password, SIGNED_IN, user } from "../support/environment";

test("a wrong password is refused with a reason, the right one leads to the requested page", async ({ page }) => {
  await page.goto("/hosts");
  const form = new SignInPage(page);
  await form.signIn(user(), "certainly-not-the-password");
  await expect(form.alert).toContainText("bad_credentials");
  await form.signIn(user(), password());
  await expect(page.getByRole("heading", { name: "Hosts", level: 1 })).toBeVisible();
  await new Shell(page).expectLive();
  await page.context().storageState({ path: SIGNED_IN });
});
