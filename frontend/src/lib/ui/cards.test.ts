import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { asCards } from "./cards";

it("each column's title is a text of CSS, quotes and all", () => {
  expect(asCards(["RNIC", 'A "quoted" one', ""]).style).toEqual({
    "--title-1": '"RNIC"',
    "--title-2": '"A \\"quoted\\" one"',
    "--title-3": '""',
  });
});

it("the style sheet reads the title of every column but the first, which is the card's heading", () => {
  const sheet = readFileSync(new URL("./cards.module.css", import.meta.url), "utf8");
  const read = [...sheet.matchAll(/nth-child\((\d+)\)::before \{\s*content: var\(--title-(\d+)\)/g)];
  expect(read.map(([, place, title]) => [place, title])).toEqual(
    Array.from({ length: 11 }, (_, i) => [String(i + 2), String(i + 2)]),
  );
});
