// Chromium signed in to the stack under measurement. Environment: BASE_URL, COOKIE (value of wallwatch_session),
// PLAYWRIGHT (package.json of who has playwright-core), CHROMIUM.
import { createRequire } from "node:module";

const { chromium } = createRequire(process.env.PLAYWRIGHT)("playwright-core");
const { BASE_URL, COOKIE, CHROMIUM } = process.env;

export { BASE_URL };

export function launch() {
  return chromium.launch({
    executablePath: CHROMIUM,
    args: ["--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });
}

/** A new page with an empty cache. */
export async function signedIn(browser) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  await context.addCookies([{ name: "wallwatch_session", value: COOKIE, url: BASE_URL, httpOnly: true, sameSite: "Strict" }]);
  return { context, page: await context.newPage() };
}
