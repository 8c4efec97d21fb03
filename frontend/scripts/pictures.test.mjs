import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { difference } from "./pictures/difference.mjs";
import { PAGES, pictures } from "./pictures/pages.mjs";

const router = readFileSync(new URL("../src/app/router.tsx", import.meta.url), "utf8");
/** The paths of all routes; `$id` stands for one part. */
const routes = [...router.matchAll(/^ {2}path: "([^"]+)"/gm)].map(([, path]) => path);
const matches = (route, path) =>
  new RegExp(`^${route.replace(/\$\w+/g, "[^/]+")}$`).test(new URL(path, "http://x").pathname);

describe("the pictures of pages", () => {
  it("show every route", () => {
    expect(routes.length).toBeGreaterThan(30);
    expect(routes.filter((route) => !PAGES.some(([, path]) => matches(route, path)))).toEqual([]);
  });

  it("have names of their own, in three widths and both themes", () => {
    const ids = pictures().map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(pictures("fleet-tenants").map(({ width, theme }) => `${width} ${theme}`)).toEqual([
      "1280 dark",
      "1280 light",
      "1920 dark",
      "1920 light",
      "800 dark",
      "800 light",
    ]);
    expect(pictures("lab-broken")).toHaveLength(2);
  });
});

describe("the difference of two pictures", () => {
  const SIZE = 5;
  /** All grey, and some places in another shade. */
  const picture = (places, shade) => {
    const data = new Uint8ClampedArray(SIZE * SIZE * 4).fill(100);
    for (const [x, y] of places) data.fill(shade, (y * SIZE + x) * 4, (y * SIZE + x) * 4 + 3);
    return data;
  };
  it("counts what is further off than the tolerance, and marks it", () => {
    const places = [
      [1, 2],
      [4, 0],
    ];
    expect(difference(picture([], 0), picture(places, 110), SIZE, SIZE, 24).changed).toBe(0);
    const { changed, shown } = difference(picture([], 0), picture(places, 250), SIZE, SIZE, 24);
    expect(changed).toBe(2);
    const at = (2 * SIZE + 1) * 4;
    expect([...shown.slice(at, at + 4)]).toEqual([224, 0, 0, 255]);
    expect(shown[0]).toBeGreaterThan(200);
  });
});
