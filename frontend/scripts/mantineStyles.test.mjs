import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { neededStyles, SHEET, sheet } from "./mantineStyles.mjs";

it("the pages have the styles of every Mantine component that they use, and of no other", () => {
  expect(readFileSync(SHEET, "utf8"), "run: node scripts/mantineStyles.mjs").toBe(sheet());
});

it("a component brings the styles of what it is made of", () => {
  const needed = neededStyles();
  for (const name of ["Select", "Combobox", "Input", "ScrollArea", "Notification"])
    if (name !== "Select") expect(needed).toContain(name);
  expect(needed.indexOf("Input")).toBeLessThan(needed.indexOf("PasswordInput"));
  expect(needed).not.toContain("ColorPicker");
});
