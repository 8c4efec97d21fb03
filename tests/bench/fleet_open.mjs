// Opens the page Fleet in Chromium, prints `open` once all RNICs are painted, and keeps it open until standard input ends.
// Environment: RNICS, and what browser.mjs needs.
import { BASE_URL, launch, signedIn } from "./browser.mjs";

const browser = await launch();
const { page } = await signedIn(browser);
await page.goto(BASE_URL, { waitUntil: "commit" });
await page.waitForFunction(
  (rnics) => [...document.querySelectorAll("[data-painted]")].some((one) => Number(one.getAttribute("data-painted")) >= rnics),
  Number(process.env.RNICS),
  { timeout: 300_000 },
);
process.stdout.write("open\n");
for await (const _ of process.stdin);
await browser.close();
