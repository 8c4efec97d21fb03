import { render } from "@testing-library/react";
import { afterEach, expect, it } from "vitest";
import { usePrintLight } from "./usePrintLight";

const SCHEME = "data-mantine-color-scheme";
const root = document.documentElement;

function Printed() {
  usePrintLight();
  return null;
}

afterEach(() => root.removeAttribute(SCHEME));

it("a dark page is printed in light colours, and is dark again afterwards", () => {
  root.setAttribute(SCHEME, "dark");
  render(<Printed />);
  window.dispatchEvent(new Event("beforeprint"));
  expect([root.getAttribute(SCHEME), root.getAttribute("data-printed-from")]).toEqual(["light", "dark"]);
  window.dispatchEvent(new Event("afterprint"));
  expect([root.getAttribute(SCHEME), root.getAttribute("data-printed-from")]).toEqual(["dark", null]);
});

it("a light page stays as it is", () => {
  root.setAttribute(SCHEME, "light");
  render(<Printed />);
  window.dispatchEvent(new Event("beforeprint"));
  expect([root.getAttribute(SCHEME), root.getAttribute("data-printed-from")]).toEqual(["light", null]);
  window.dispatchEvent(new Event("afterprint"));
  expect(root.getAttribute(SCHEME)).toBe("light");
});
