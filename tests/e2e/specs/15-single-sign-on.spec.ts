import { expect, test } from "@playwright/test";
import { expectAccessible } from "../support/axe";
import { password, singleSignOnUrl, user } from "../support/environment";
import { Provider } from "../support/provider";
import { LenientProviderPages, StrictProviderPages } from "../pages/ProviderPages";
import { Shell } from "../pages/Shell";
import { SignInPage } from "../pages/SignInPage";

/** People of the provider: tests/support/wallwatch_testing/single_sign_on.py gives them their groups. */
const ANA = "1001"; // of a group with the role operator
const EVE = "1002"; // of no group with a role
const LABEL = "Example ID";
/** A page with a filter: both must survive the way to the provider and back. */
const DEEP_LINK = "/incidents?state=all";

test.skip(!process.env["E2E_SSO_BASE_URL"], "tests/e2e/run starts a backend with single sign-on; yours is not known");
test.use({ storageState: { cookies: [], origins: [] } });

const LOCAL = ["127.0.0.1", "localhost"];

test.beforeEach(async ({ page }) => {
  // The provider's pages ask a server of the internet for their style, which may not answer.
  await page.context().route(
    ({ hostname }) => !LOCAL.includes(hostname),
    (route) => route.abort(),
  );
  await page.goto(singleSignOnUrl(DEEP_LINK));
});

// First: once a provider has answered, the backend remembers its addresses and sends browsers there without asking again.
test.describe("while the provider is down", () => {
  test("single sign-on says so, and the administrator for emergencies still gets in", async ({ page }) => {
    const signIn = new SignInPage(page);
    await expect(signIn.provider(LABEL)).toBeVisible();
    await expectAccessible(page);
    await signIn.provider(LABEL).click();
    await expect(page.getByRole("heading", { name: "Not signed in" })).toBeVisible();
    await expect(page.getByText("The sign-in provider does not answer. Try again later.")).toBeVisible();
    await expect(page.getByText("provider_unreachable")).toBeVisible();

    await page.getByRole("link", { name: "Back to the sign-in page" }).click();
    await signIn.revealPassword.click();
    await signIn.signIn(user(), password());
    await expect(page.getByRole("button", { name: `Account of ${user()}` })).toBeVisible();
  });
});

test.describe("with the provider", () => {
  let provider: Provider;
  test.beforeAll(async () => {
    provider = await Provider.start("lenient");
  });
  test.afterAll(() => provider.stop());

  test("a person signs in there, lands where the link led, has the role of their group, and signs out there", async ({
    page,
  }) => {
    const atProvider = new LenientProviderPages(page);
    await new SignInPage(page).provider(LABEL).click();
    await atProvider.signInAs(ANA);
    await expect(page).toHaveURL(singleSignOnUrl(DEEP_LINK));
    await expect(page.getByRole("heading", { name: "Incidents", level: 1 })).toBeVisible();

    await page.goto(singleSignOnUrl("/account"));
    const account = page.getByRole("table", { name: "Account" });
    await expect(account.getByRole("row", { name: "User name" })).toContainText("ana.sre");
    await expect(account.getByRole("row", { name: "Role" })).toContainText("operator");
    await expect(account.getByRole("row", { name: "Signs in with" })).toContainText(LABEL);

    await new Shell(page).signOut();
    await expect(atProvider.endSession).toBeVisible();
    expect(page.url()).toContain(`${provider.address}/oauth2/end_session?`);
    // The provider knows whose session ends, so that it need not ask.
    expect(new URL(page.url()).searchParams.get("id_token_hint")).toBeTruthy();
    await atProvider.endSession.click();
    await expect(page).toHaveURL(singleSignOnUrl("/"));
    await expect(new SignInPage(page).provider(LABEL)).toBeVisible();
  });

  test("a person of no group with a role is refused with a reason, and stays signed out", async ({ page }) => {
    await new SignInPage(page).provider(LABEL).click();
    await new LenientProviderPages(page).signInAs(EVE);
    await expect(page.getByRole("heading", { name: "Not signed in" })).toBeVisible();
    await expect(page.getByText("Your account is in no group that may use Wallwatch")).toBeVisible();
    await expect(page.getByText("no_role")).toBeVisible();
    await page.goto(singleSignOnUrl("/account"));
    await expect(new SignInPage(page).provider(LABEL)).toBeVisible();
  });
});

test.describe("with another provider at the same address, stricter and with keys of its own", () => {
  let provider: Provider;
  test.beforeAll(async () => {
    provider = await Provider.start("strict");
  });
  test.afterAll(() => provider.stop());

  test("a person signs in with PKCE, form and consent, is the account of before, and signs out there", async ({
    page,
  }) => {
    const atProvider = new StrictProviderPages(page);
    const incidents = page.getByRole("heading", { name: "Incidents", level: 1 });
    // The backend asks for a provider's keys at most every 10 s, and may have those of the provider that was here before.
    await expect(async () => {
      await page.goto(singleSignOnUrl(DEEP_LINK));
      await new SignInPage(page).provider(LABEL).click();
      await atProvider.signInAs(ANA);
      await expect(incidents.or(page.getByText("unknown_key"))).toBeVisible();
      await expect(incidents).toBeVisible({ timeout: 1 });
    }).toPass({ timeout: 90_000 });
    await expect(page).toHaveURL(singleSignOnUrl(DEEP_LINK));

    await page.goto(singleSignOnUrl("/account"));
    const account = page.getByRole("table", { name: "Account" });
    await expect(account.getByRole("row", { name: "User name" })).toContainText("ana.sre");
    await expect(account.getByRole("row", { name: "Role" })).toContainText("operator");

    await new Shell(page).signOut();
    await atProvider.signOut.click();
    await expect(page).toHaveURL(singleSignOnUrl("/"));
    await expect(new SignInPage(page).provider(LABEL)).toBeVisible();
  });
});
