import { screen, within } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";
import { renderPage } from "@/testing/render";
import { ProfilesPage } from "./ProfilesPage";

const profile = (model: string, basis: string) => ({
  model,
  title: model,
  vendor: "NVIDIA",
  rnics: 2,
  active: 0,
  scoped: 0,
  candidates: 0,
  parameters: { goodness: 0.93 },
  parameters_basis: basis,
  parameters_source: "a source",
  head_gbps: 158,
  head_us: 2.7,
});

describe("the list of profiles", () => {
  afterEach(() => vi.restoreAllMocks());

  it("says which models' performance is assumed, and nothing of the measured ones", async () => {
    const items = [profile("BF-2", "assumed"), profile("CX-6", "paper"), profile("CX-8", "calibrated")];
    vi.spyOn(globalThis, "fetch").mockImplementation(
      async () => new Response(JSON.stringify({ items }), { headers: { "Content-Type": "application/json" } }),
    );
    renderPage(<ProfilesPage />);
    const row = (model: string) => within(screen.getByRole("link", { name: model }).closest("tr") as HTMLElement);
    await screen.findByRole("link", { name: "BF-2" });
    expect(row("BF-2").getByText("assumed")).toBeInTheDocument();
    expect(row("CX-6").queryByText("assumed")).toBeNull();
    expect(row("CX-8").queryByText("assumed")).toBeNull();
  });
});
