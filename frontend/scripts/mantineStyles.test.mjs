import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { MORE, neededStyles, SHEET, sheets, withoutStyles } from "./mantineStyles.mjs";

it("the pages have the styles of every Mantine component that they use, and of no other", () => {
  const { first, more } = sheets();
  expect(readFileSync(SHEET, "utf8"), "run: node scripts/mantineStyles.mjs").toBe(first);
  expect(readFileSync(MORE, "utf8"), "run: node scripts/mantineStyles.mjs").toBe(more);
});

it("the two sheets have every style once, and the first what the fleet shows", () => {
  const { first, more } = sheets();
  const names = (sheet) => [...sheet.matchAll(/styles\/([\w-]+)\.css/g)].map(([, name]) => name);
  expect([...names(first), ...names(more)].sort()).toEqual([...neededStyles()].sort());
  for (const name of ["baseline", "Button", "Combobox", "Tooltip"]) expect(names(first)).toContain(name);
  for (const name of ["Tabs", "Table", "Modal", "Notification"]) expect(names(more)).toContain(name);
});

it("what is fetched later brings the styles that it needs", () => {
  expect(withoutStyles()).toEqual([]);
});

it("a component brings the styles of what it is made of", () => {
  const needed = neededStyles();
  for (const name of ["Combobox", "Input", "ScrollArea", "Notification"]) expect(needed).toContain(name);
  expect(needed.indexOf("Input")).toBeLessThan(needed.indexOf("PasswordInput"));
  expect(needed).not.toContain("ColorPicker");
});
