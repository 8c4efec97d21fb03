import { fireEvent, screen } from "@testing-library/react";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { renderPage } from "@/testing/render";
import { useKeys } from "./keys";

const resolve = vi.fn();
const open = vi.fn();

function Page({ dialog = false }: { dialog?: boolean }) {
  useKeys({ r: resolve, Enter: open });
  return (
    <>
      <input aria-label="Text" />
      <input type="checkbox" aria-label="Tick" />
      <a href="#there">Link</a>
      {dialog && <div role="dialog" aria-modal="true" />}
    </>
  );
}

beforeEach(() => vi.resetAllMocks());

describe("a page's own keys", () => {
  it("act anywhere on the page, also with the focus on a checkbox", () => {
    renderPage(<Page />);
    fireEvent.keyDown(document.body, { key: "r" });
    fireEvent.keyDown(screen.getByLabelText("Tick"), { key: "r" });
    expect(resolve).toHaveBeenCalledTimes(2);
  });

  it("rest while a dialog is open", () => {
    renderPage(<Page dialog />);
    fireEvent.keyDown(document.body, { key: "r" });
    expect(resolve).not.toHaveBeenCalled();
  });

  it("are text while someone types, and nothing with a modifier", () => {
    renderPage(<Page />);
    fireEvent.keyDown(screen.getByLabelText("Text"), { key: "r" });
    fireEvent.keyDown(document.body, { key: "r", ctrlKey: true });
    expect(resolve).not.toHaveBeenCalled();
  });

  it("leave the end of a chord alone, which another handler has taken", () => {
    renderPage(<Page />);
    const take = (event: KeyboardEvent) => event.preventDefault();
    window.addEventListener("keydown", take, { capture: true });
    fireEvent.keyDown(document.body, { key: "r" });
    window.removeEventListener("keydown", take, { capture: true });
    expect(resolve).not.toHaveBeenCalled();
  });

  it("leave Enter to the link that has the focus", () => {
    renderPage(<Page />);
    fireEvent.keyDown(screen.getByText("Link"), { key: "Enter" });
    expect(open).not.toHaveBeenCalled();
    fireEvent.keyDown(document.body, { key: "Enter" });
    expect(open).toHaveBeenCalledTimes(1);
  });
});
