import { render, screen } from "@testing-library/react";
import jsQR from "jsqr";
import { describe, expect, it } from "vitest";
import { EnrolmentCode } from "./EnrolmentCode";

const URI = "otpauth://totp/Wallwatch:ana%40example.net?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=Wallwatch";
const PIXELS_PER_MODULE = 4;

/** The drawing as a camera would see it, painted from its path: rows of dark modules, `M x y h width`. */
function photograph(svg: Element): { pixels: Uint8ClampedArray; side: number } {
  const modules = Number(svg.getAttribute("viewBox")?.split(" ")[2]);
  const side = modules * PIXELS_PER_MODULE;
  const pixels = new Uint8ClampedArray(side * side * 4).fill(255);
  const path = svg.querySelectorAll("path")[1]?.getAttribute("d") ?? "";
  for (const [, x, y, width] of path.matchAll(/M(\d+)[ ,](\d+) ?h(\d+)v1/g)) {
    for (let row = 0; row < PIXELS_PER_MODULE; row++) {
      const begin = (Number(y) * PIXELS_PER_MODULE + row) * side + Number(x) * PIXELS_PER_MODULE;
      for (let at = begin; at < begin + Number(width) * PIXELS_PER_MODULE; at++) pixels.fill(0, at * 4, at * 4 + 3);
    }
  }
  return { pixels, side };
}

describe("the QR code of an enrolment", () => {
  it("holds exactly the link, as a reader decodes it", () => {
    render(<EnrolmentCode uri={URI} />);
    const { pixels, side } = photograph(screen.getByRole("img"));
    expect(jsQR(pixels, side, side)?.data).toBe(URI);
  });

  it("is dark on white in every theme, with the quiet zone that readers need", () => {
    render(<EnrolmentCode uri={URI} />);
    const [background, foreground] = screen.getByRole("img").querySelectorAll("path");
    expect(background).toHaveAttribute("fill", "#ffffff");
    expect(foreground).toHaveAttribute("fill", "#000000");
    // The first dark module stands four modules from the top and the left.
    expect(foreground?.getAttribute("d")).toMatch(/^M4[ ,]4/);
  });

  it("says to who cannot see it what it is, and loads nothing from anywhere", () => {
    const { container } = render(<EnrolmentCode uri={URI} />);
    expect(screen.getByRole("img", { name: /^QR code of the secret/ })).toBeInTheDocument();
    expect(container.querySelectorAll("img, image, [href], [src]")).toHaveLength(0);
  });
});
