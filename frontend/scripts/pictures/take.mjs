import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { NOW } from "./serve.mjs";

const THEME_KEY = "mantine-color-scheme-value";
/** A page that still changes after this is photographed as it is. */
const STABLE_WITHIN_MS = 20_000;
const BETWEEN_MS = 250;

/** Takes pictures of a page until two in a row are equal. */
async function stable(page) {
  let last = await page.screenshot({ animations: "disabled" });
  for (let waited = 0; waited < STABLE_WITHIN_MS; waited += BETWEEN_MS) {
    await page.waitForTimeout(BETWEEN_MS);
    const next = await page.screenshot({ animations: "disabled" });
    if (next.equals(last)) return next;
    last = next;
  }
  return last;
}

/** Writes the picture of each page into a folder, and says how far it is. */
export async function take(browser, addresses, wanted, folder) {
  mkdirSync(folder, { recursive: true });
  const contexts = new Map();
  for (const [i, { id, kind, path, width, theme }] of wanted.entries()) {
    const key = `${width} ${theme}`;
    if (!contexts.has(key)) {
      const made = await browser.newContext({
        viewport: { width, height: width === 800 ? 1100 : Math.round(width * 0.625) },
        colorScheme: theme,
        reducedMotion: "reduce",
        timezoneId: "UTC",
        locale: "en-GB",
      });
      await made.addInitScript(([name, value]) => localStorage.setItem(name, value), [THEME_KEY, theme]);
      contexts.set(key, made);
    }
    const page = await contexts.get(key).newPage();
    await page.clock.setFixedTime(NOW);
    await page.goto(addresses[kind] + path, { waitUntil: "load" });
    await page
      .waitForFunction(
        () => document.querySelector("h1") !== null && !document.querySelector('[aria-busy="true"]'),
        null,
        {
          timeout: STABLE_WITHIN_MS,
        },
      )
      .catch(() => undefined); // a page that keeps loading is a picture, too
    writeFileSync(join(folder, `${id}.png`), await stable(page));
    await page.close();
    process.stdout.write(`${i + 1}/${wanted.length} ${id}\n`);
  }
  for (const context of contexts.values()) await context.close();
}
