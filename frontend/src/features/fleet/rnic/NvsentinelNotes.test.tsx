import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it } from "vitest";
import { renderPage } from "@/testing/render";
import { NvsentinelNotes } from "./NvsentinelNotes";

const NOW = Date.parse("2026-11-27T12:00:00Z");

function show(count: number) {
  const nvsentinel = Array.from({ length: count }, (_, i) => ({
    name: i === 0 ? "cordon" : `Check${i}`,
    since: "2026-11-27T11:45:00Z",
    text: `text ${i}`,
    devices: [],
  }));
  const node = {
    zone: null,
    instance_type: null,
    healthy: null,
    reason: null,
    tainted: false,
    unschedulable: true,
    nvsentinel,
    read_at: "2026-11-27T11:59:00Z",
  };
  renderPage(<NvsentinelNotes node={node} now={NOW} />);
}

const lines = () => within(screen.getByRole("list", { name: "NVSentinel" })).getAllByRole("listitem");

describe("what NVSentinel says of a node", () => {
  it("shows the first three of many, and the others to who asks by keyboard", async () => {
    show(65);
    const button = screen.getByRole("button", { name: "Show 62 more reports of NVSentinel" });
    expect(lines().map((line) => line.textContent)).toEqual([
      expect.stringContaining("cordoned the node 15 min ago"),
      expect.stringContaining("Check1"),
      expect.stringContaining("Check2"),
    ]);
    expect(button).toHaveAttribute("aria-expanded", "false");
    expect(button).toHaveAttribute("aria-controls", screen.getByRole("list", { name: "NVSentinel" }).id);
    await userEvent.tab();
    expect(button).toHaveFocus();
    await userEvent.keyboard("{Enter}");
    expect(lines()).toHaveLength(65);
    const less = screen.getByRole("button", { name: "Show less of NVSentinel" });
    expect(less).toHaveAttribute("aria-expanded", "true");
    expect(less).toHaveFocus();
    await userEvent.keyboard(" ");
    expect(lines()).toHaveLength(3);
  });

  it.each([1, 3, 4])("shows all of %i without a button", (count) => {
    show(count);
    expect(lines()).toHaveLength(count);
    expect(screen.queryByRole("button")).not.toBeInTheDocument();
  });
});
