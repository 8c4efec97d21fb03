import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it, vi } from "vitest";
import { serve } from "@/testing/server";
import { renderPage } from "@/testing/render";
import { CommonStrip } from "./CommonStrip";
import { reasonText } from "./commonText";

const firmware = { dimension: "firmware" as const, value: "22.1", sick_with: 6, all_with: 8, lift: 5, chance: 0.00002 };
const answer = (items: unknown[]) => serve({ "GET /fleet/commonalities": { hosts: 40, sick: 6, tested: 9, items } });
const show = () => {
  const shown = vi.fn<(value: string) => void>();
  renderPage(
    <CommonStrip
      anySick
      symptoms={["S1"]}
      onShow={({ dimension, value }) => (dimension === "change" ? null : () => shown(value))}
    />,
  );
  return shown;
};

describe("what sick hosts have in common", () => {
  it("is said with counts, and leads to where it can be seen", async () => {
    answer([firmware, { ...firmware, dimension: "model", value: "CX-6" }]);
    const shown = show();
    await userEvent.click(await screen.findByRole("button", { name: "firmware 22.1 · 6 of 6 sick hosts, 20% of all" }));
    await userEvent.click(screen.getByRole("button", { name: /^model CX-6/ }));
    expect(shown.mock.calls).toEqual([["22.1"], ["CX-6"]]);
  });

  it("names a change of the last hour, which is no filter", async () => {
    answer([{ ...firmware, dimension: "change", value: "driver_reloaded" }]);
    show();
    expect(await screen.findByText("driver reloaded in the last hour")).toBeVisible();
    expect(screen.queryByRole("button")).toBeNull();
  });

  it("is not there when chance explains everything", async () => {
    const asked = answer([]);
    show();
    await waitFor(() => expect(asked).toHaveLength(1));
    expect(screen.queryByRole("region")).toBeNull();
  });

  it("says how improbable it is, and what it does not prove", () => {
    expect(reasonText(firmware, 9)).toBe(
      "5 times as frequent among sick hosts as in the fleet. The chance of this without a pattern is 1 in 50,000, corrected for 9 tested properties. A pattern is not yet a cause.",
    );
  });
});
