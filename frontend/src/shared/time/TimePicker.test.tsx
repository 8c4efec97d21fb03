import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it, vi } from "vitest";
import { renderPage } from "@/testing/render";
import { linkTo, TimePicker } from "./TimePicker";

const FIXED = { from: "2026-11-21T03:00:00.000Z", to: "2026-11-21T04:00:00.000Z" };

describe("the time picker", () => {
  it("offers ranges up to now and says which one is shown", async () => {
    const onRange = vi.fn();
    renderPage(<TimePicker range={{}} onRange={onRange} />);
    await userEvent.click(screen.getByRole("button", { name: "Last 15 minutes" }));
    expect(await screen.findByRole("radio", { name: "Last 15 minutes" })).toBeChecked();
    await userEvent.click(screen.getByRole("radio", { name: "Last 6 hours" }));
    expect(onRange).toHaveBeenCalledWith({ range: "6h" });
  });

  it("steps through time by button, and cannot go past now", async () => {
    const onRange = vi.fn();
    const { unmount } = renderPage(<TimePicker range={FIXED} onRange={onRange} />);
    await userEvent.click(screen.getByRole("button", { name: "Earlier" }));
    expect(onRange).toHaveBeenLastCalledWith({ from: "2026-11-21T02:30:00.000Z", to: "2026-11-21T03:30:00.000Z" });
    unmount();
    renderPage(<TimePicker range={{ range: "1h" }} onRange={onRange} />);
    expect(screen.getByRole("button", { name: "Later" })).toBeDisabled();
  });

  it("zooms out by key", async () => {
    const onRange = vi.fn();
    renderPage(<TimePicker range={{ range: "5m" }} onRange={onRange} />);
    await userEvent.keyboard("o");
    expect(onRange).toHaveBeenCalledWith({ range: "15m" });
  });

  it("refuses an end before its beginning", async () => {
    renderPage(<TimePicker range={FIXED} onRange={() => undefined} />);
    await userEvent.click(screen.getByRole("button", { name: /–/ }));
    const to = await screen.findByLabelText("To");
    await userEvent.clear(to);
    await userEvent.type(to, "2001-01-01T00:00");
    expect(screen.getByRole("button", { name: "Show these times" })).toBeDisabled();
  });

  it("makes a link that shows the same minutes tomorrow, and keeps the rest of the address", () => {
    const now = Date.parse("2026-11-21T04:00:00Z");
    expect(linkTo("https://wall.example/rnics/h1/0000:3b:00.0?tab=flows&range=1h", { range: "1h" }, now)).toBe(
      "https://wall.example/rnics/h1/0000:3b:00.0?tab=flows&from=2026-11-21T03:00:00.000Z&to=2026-11-21T04:00:00.000Z",
    );
  });
});
