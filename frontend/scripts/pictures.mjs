// Pictures of every page, and what a change does to them: `make pictures` takes them and shows those that differ from the accepted ones,
// `make pictures ARGS=accept` makes the last ones the accepted ones. Another argument restricts it: `make pictures ARGS=fleet`.
import { cpSync, mkdirSync, rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "@playwright/test";
import { compare, countOf, report } from "./pictures/compare.mjs";
import { pictures } from "./pictures/pages.mjs";
import { serve } from "./pictures/serve.mjs";
import { take } from "./pictures/take.mjs";

const FRONTEND = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const HOME = process.env["WALLWATCH_PICTURES"] ?? resolve(FRONTEND, "../.local/pictures");
const [BEFORE, NOW] = [join(HOME, "before"), join(HOME, "now")];
const [only = ""] = process.argv.slice(2);

if (only === "accept") {
  if (countOf(NOW) === 0) throw new Error("There are no pictures yet: run `make pictures` first.");
  mkdirSync(BEFORE, { recursive: true });
  cpSync(NOW, BEFORE, { recursive: true });
  process.stdout.write(`accepted: ${countOf(NOW)} pictures in ${BEFORE}\n`);
} else {
  const wanted = pictures(only);
  if (wanted.length === 0) throw new Error(`No picture has '${only}' in its name.`);
  rmSync(NOW, { recursive: true, force: true });
  const dist = process.env["WALLWATCH_DIST"] ?? join(FRONTEND, "dist");
  const { addresses, close } = await serve(dist, [...new Set(wanted.map(({ kind }) => kind))]);
  const browser = await chromium.launch({
    executablePath: process.env["E2E_CHROMIUM"] ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--font-render-hinting=none", "--force-color-profile=srgb"],
  });
  try {
    await take(browser, addresses, wanted, NOW);
    if (countOf(BEFORE) === 0) {
      process.stdout.write("nothing to compare with: `make pictures ARGS=accept` accepts these\n");
    } else {
      const found = await compare(browser, BEFORE, NOW, wanted);
      for (const { id, share, note } of found)
        process.stdout.write(`differs: ${id} ${note || `${(share * 100).toFixed(2)}%`}\n`);
      process.stdout.write(`${found.length} of ${wanted.length} pictures differ: ${report(found, NOW)}\n`);
    }
  } finally {
    await browser.close();
    close();
  }
}
