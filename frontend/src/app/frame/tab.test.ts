import { expect, test } from "vitest";
import { tabIcon, tabTitle } from "./tab";

test.each([
  ["Fleet", 0, "Fleet · Wallwatch"],
  ["Fleet", 3, "(3) Fleet · Wallwatch"],
  ["Fleet", 15_000, "(99+) Fleet · Wallwatch"],
  ["", 0, "Wallwatch"],
])("the tab of %s with %d incidents is called %s", (page, count, title) => {
  expect(tabTitle(page, count)).toBe(title);
});

test("the icon of the tab shows how many incidents need attention, or the product's mark", () => {
  expect(tabIcon(0)).toBe("/favicon.svg");
  expect(decodeURIComponent(tabIcon(7))).toContain(">7</text>");
  expect(decodeURIComponent(tabIcon(100))).toContain(">99+</text>");
});
