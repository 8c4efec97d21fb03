import { fireEvent, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it, vi } from "vitest";
import { renderPage } from "@/testing/render";
import { minuteAgo } from "./minutes";
import { ReplayBar } from "./ReplayBar";

const NOW = Date.parse("2026-01-02T12:00:30Z");

function bar(ago: number, more: { waiting?: boolean; error?: unknown } = {}) {
  const onMinute = vi.fn<(minute: string | undefined) => void>();
  renderPage(
    <ReplayBar
      minute={minuteAgo(ago, NOW)}
      now={NOW}
      waiting={more.waiting ?? false}
      error={more.error ?? null}
      onMinute={onMinute}
    />,
  );
  return onMinute;
}

describe("the bar of the replay", () => {
  it("says which minute is shown, and moves to another one", () => {
    const onMinute = bar(14);
    const slider = screen.getByRole("slider", { name: "Minute that is shown" });
    expect(slider).toHaveAttribute("aria-valuetext", expect.stringMatching(/^\d\d:\d\d.*, 14 minutes ago$/));
    fireEvent.change(slider, { target: { value: "-20" } });
    expect(onMinute).toHaveBeenLastCalledWith("2026-01-02T11:40Z");
  });

  it("plays on by itself, from the beginning when it stands at the end", async () => {
    const onMinute = bar(1);
    await userEvent.click(screen.getByRole("button", { name: "Play the replay" }));
    expect(onMinute).toHaveBeenLastCalledWith("2026-01-02T11:00Z");
  });

  it("goes on to the next minute once the data are there", async () => {
    const onMinute = bar(14);
    await userEvent.click(screen.getByRole("button", { name: "Play the replay" }));
    await waitFor(() => expect(onMinute).toHaveBeenCalledWith("2026-01-02T11:47Z"), { timeout: 20_000 });
  });

  it("waits for data, says why there are none, and leads back to now", async () => {
    const onMinute = bar(14, { waiting: true, error: new Error("The server did not answer") });
    await userEvent.click(screen.getByRole("button", { name: "Play the replay" }));
    expect(screen.getByRole("region", { name: "Replay of the fleet" })).toHaveAttribute("aria-busy", "true");
    expect(screen.getByRole("alert")).toBeVisible();
    await userEvent.click(screen.getByRole("button", { name: "Back to now" }));
    expect(onMinute.mock.calls).toEqual([[undefined]]);
  });
});
