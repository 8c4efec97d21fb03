// What a browser with an empty cache fetches of the build for each page, as the built-in server sends it (Brotli where there is a file for
// it). `node scripts/weight.mjs` prints it and fails when a page is above its budget; `--json` prints numbers. What the API answers is not
// in these figures, and budgets.json leaves room for it.
import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const FRONTEND = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const ENTRY = "index.html";
const ROUTES = "src/app/routes/";

/** The files that `chunk` needs before it runs: what it imports and their styles, without what it imports later. */
function closure(manifest, key, files = new Set(), seen = new Set()) {
  if (seen.has(key)) return files;
  seen.add(key);
  const chunk = manifest[key];
  files.add(chunk.file);
  for (const style of chunk.css ?? []) files.add(style);
  for (const other of chunk.imports ?? []) closure(manifest, other, files, seen);
  return files;
}

/** Bytes over the wire: the form that the server chooses for a browser of today. */
function sent(dist, file) {
  const path = join(dist, file);
  return statSync(existsSync(`${path}.br`) ? `${path}.br` : path).size;
}

/** Bytes and files of each page by the name of its route. */
export function weigh(dist) {
  const manifest = JSON.parse(readFileSync(join(dist, ".vite/manifest.json"), "utf8"));
  const html = readFileSync(join(dist, ENTRY), "utf8");
  const named = [...html.matchAll(/(?:src|href)="\/([^"]+)"/g)].map(([, file]) => file);
  const pages = {};
  for (const key of Object.keys(manifest).filter((each) => each.startsWith(ROUTES) && manifest[each].isDynamicEntry)) {
    const files = new Set([ENTRY, ...named, ...closure(manifest, ENTRY), ...closure(manifest, key)]);
    pages[key.slice(ROUTES.length).replace(/Route\.tsx$/, "")] = {
      bytes: [...files].reduce((sum, file) => sum + sent(dist, file), 0),
      files: [...files].sort(),
    };
  }
  return pages;
}

/** What is wrong with these weights, one line each; nothing when all is well. */
export function faults(pages, budgets) {
  const found = [];
  for (const [page, limit] of Object.entries(budgets.kB)) {
    if (page !== "others" && pages[page] === undefined) found.push(`${page}: the build has no such page`);
    if (page !== "others" && pages[page]?.bytes > limit * 1000)
      found.push(`${page}: ${pages[page].bytes} bytes, at most ${limit} kB`);
  }
  for (const [page, { bytes, files }] of Object.entries(pages)) {
    const limit = budgets.kB[page] ?? budgets.kB.others;
    if (budgets.kB[page] === undefined && bytes > limit * 1000)
      found.push(`${page}: ${bytes} bytes, at most ${limit} kB`);
    const charts = files.some((file) => file.includes("echarts"));
    if (charts && !budgets.charts.includes(page)) found.push(`${page}: it loads the charts and has none`);
  }
  return found;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const pages = weigh(process.env["WALLWATCH_DIST"] ?? join(FRONTEND, "dist"));
  if (process.argv.includes("--json")) {
    process.stdout.write(`${JSON.stringify(pages)}\n`);
  } else {
    for (const [page, { bytes, files }] of Object.entries(pages).sort((a, b) => b[1].bytes - a[1].bytes))
      process.stdout.write(
        `${page.padEnd(18)} ${(bytes / 1000).toFixed(1).padStart(7)} kB ${String(files.length).padStart(3)} files\n`,
      );
    const budgets = JSON.parse(readFileSync(join(FRONTEND, "scripts/budgets.json"), "utf8"));
    const wrong = faults(pages, budgets);
    for (const line of wrong) process.stderr.write(`too heavy: ${line}\n`);
    if (wrong.length > 0) process.exitCode = 1;
  }
}
