import { fireEvent, render, screen } from "@testing-library/react";
import { useRef } from "react";
import { expect, it, vi } from "vitest";
import type { Painter } from "./engine";
import { usePick } from "./usePick";

const onPick = vi.fn();
// A pixel is a second, and the left half of the picture leads somewhere.
const painter = { convertFromPixel: (_: unknown, x: number) => x * 1000 } as unknown as Painter;

function Picture() {
  const holder = useRef<HTMLDivElement>(null);
  const chart = useRef<Painter>(painter);
  usePick(holder, chart, (ms) => (ms < 50_000 ? { label: "Open", onPick } : null));
  return <div ref={holder} data-testid="picture" />;
}

it("takes a click on what leads somewhere, not a drag nor a click elsewhere", () => {
  render(<Picture />);
  const picture = screen.getByTestId("picture");
  const drag = (from: number, to: number) => {
    fireEvent.pointerDown(picture, { button: 0, clientX: from, clientY: 5 });
    fireEvent.click(picture, { clientX: to, clientY: 5 });
  };
  drag(80, 80);
  drag(10, 40);
  expect(onPick).not.toHaveBeenCalled();
  drag(30, 31);
  expect(onPick).toHaveBeenCalledOnce();
});

it("shows by the pointer where a click does something", () => {
  render(<Picture />);
  const picture = screen.getByTestId("picture");
  fireEvent.pointerMove(picture, { clientX: 20, clientY: 5 });
  expect(picture.style.cursor).toBe("pointer");
  fireEvent.pointerMove(picture, { clientX: 90, clientY: 5 });
  expect(picture.style.cursor).toBe("");
});
