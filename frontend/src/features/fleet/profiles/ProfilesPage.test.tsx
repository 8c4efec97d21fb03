import { screen, within } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";
import { Profiles } from "../../../../mock/performance.mjs";
import { renderPage } from "@/testing/render";
import { ProfilesPage } from "./ProfilesPage";

describe("the list of profiles", () => {
  afterEach(() => vi.restoreAllMocks());

  it("says which models' performance is assumed, and nothing of the measured ones", async () => {
    const profiles = new Profiles({ model: [] }, "empty");
    vi.spyOn(globalThis, "fetch").mockImplementation(
      async () => new Response(JSON.stringify(profiles.list()), { headers: { "Content-Type": "application/json" } }),
    );
    renderPage(<ProfilesPage />);
    const row = (model: string) => within(screen.getByRole("link", { name: model }).closest("tr") as HTMLElement);
    await screen.findByRole("link", { name: "BF-2" });
    expect(row("BF-2").getByText("assumed")).toBeInTheDocument();
    expect(row("CX-6").queryByText("assumed")).toBeNull();
  });
});
