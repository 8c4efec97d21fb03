import { screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import type { Behaviour } from "@/lib/api/types";
import { renderPage } from "@/testing/render";
import { Advice, KnownOn } from "./BehaviourPanels";

const behaviour: Behaviour = {
  seen_in: "telemetry",
  known_on: [
    { model: "E810", firmware: "all that were measured", figures: "cnpSent stands still", source: "Lumina, 6.2.4" },
  ],
  applies_to: [],
  advice: "Use the senders' counters.",
  ticket: "The counter does not move.",
};

describe("a behaviour of the transport engine", () => {
  it.each([
    [behaviour, "Judged on every model; a finding says whether its model is known for it."],
    [{ ...behaviour, applies_to: ["CX-4 Lx", "CX-5"] }, "Judged on CX-4 Lx, CX-5 only."],
    [
      { ...behaviour, seen_in: "captures" as const },
      "Visible in packet captures only: no counter has the times of single packets.",
    ],
  ])("shows the models that are known for it, and where it is judged", async (shown, text) => {
    renderPage(<KnownOn behaviour={shown} />);
    expect(await screen.findByText("E810")).toBeVisible();
    expect(screen.getByText("cnpSent stands still")).toBeVisible();
    expect(screen.getByText(text)).toBeVisible();
  });

  it("shows what to do, and a text for the vendor that can be copied", async () => {
    renderPage(<Advice behaviour={behaviour} />);
    expect(await screen.findByText("Use the senders' counters.")).toBeVisible();
    expect(screen.getByText("The counter does not move.")).toBeVisible();
    expect(screen.getByRole("button", { name: "Copy ticket text" })).toBeVisible();
  });
});
