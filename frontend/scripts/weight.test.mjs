import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { faults, weigh } from "./weight.mjs";

const ROUTE = (name) => `src/app/routes/${name}Route.tsx`;
let dist;

/** A build of two pages, one with charts; only the shared file has a form in Brotli. */
beforeAll(() => {
  dist = mkdtempSync(join(tmpdir(), "ww-weight-"));
  for (const folder of ["assets", ".vite"]) mkdirSync(join(dist, folder));
  const sizes = {
    "index.js": 500,
    "base.js": 3000,
    "base.js.br": 1000,
    "page.css": 40,
    "Fleet.js": 200,
    "Rnic.js": 300,
    "echarts-1.js": 5000,
    "later.js": 9000,
  };
  for (const [name, size] of Object.entries(sizes)) writeFileSync(join(dist, "assets", name), "x".repeat(size));
  writeFileSync(join(dist, "index.html"), `<script src="/assets/index.js"></script>`.padEnd(100));
  const chunk = (file, rest = {}) => ({ file: `assets/${file}`, ...rest });
  const manifest = {
    "index.html": chunk("index.js", { imports: ["_base"], dynamicImports: [ROUTE("Fleet"), ROUTE("Rnic")] }),
    _base: chunk("base.js"),
    _charts: chunk("echarts-1.js", { imports: ["_base"] }),
    "src/later.tsx": chunk("later.js", { isDynamicEntry: true }),
    [ROUTE("Fleet")]: chunk("Fleet.js", {
      isDynamicEntry: true,
      imports: ["index.html"],
      css: ["assets/page.css"],
      dynamicImports: ["src/later.tsx"],
    }),
    [ROUTE("Rnic")]: chunk("Rnic.js", { isDynamicEntry: true, imports: ["index.html", "_charts"] }),
  };
  writeFileSync(join(dist, ".vite", "manifest.json"), JSON.stringify(manifest));
});
afterAll(() => rmSync(dist, { recursive: true }));

describe("the weight of pages", () => {
  it("counts each file once in the form that is sent, and nothing that is fetched later", () => {
    const pages = weigh(dist);
    expect(pages.Fleet.bytes).toBe(100 + 500 + 1000 + 200 + 40);
    expect(pages.Rnic.bytes).toBe(100 + 500 + 1000 + 300 + 5000);
  });

  it("names the pages above their budget, and those that load the charts without having any", () => {
    const pages = weigh(dist);
    expect(faults(pages, { kB: { Fleet: 2, others: 7 }, charts: ["Rnic"] })).toEqual([]);
    expect(faults(pages, { kB: { Fleet: 1.8, others: 6 }, charts: [] })).toEqual([
      "Fleet: 1840 bytes, at most 1.8 kB",
      "Rnic: 6900 bytes, at most 6 kB",
      "Rnic: it loads the charts and has none",
    ]);
    expect(faults(pages, { kB: { Wall: 5, others: 7 }, charts: ["Rnic"] })).toEqual([
      "Wall: the build has no such page",
    ]);
  });
});
