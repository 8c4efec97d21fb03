import { screen } from "@testing-library/react";
import { describe, expect, it, vi } from "vitest";
import { renderPage } from "@/testing/render";
import { serve } from "@/testing/server";
import { SeriesPanels } from "./SeriesPanels";

const PLACE = { host: "host01", pci: "0000:17:00.0" };
const SERIES = {
  from: "2026-11-21T03:00:00Z",
  to: "2026-11-21T03:01:00Z",
  step_s: 30,
  times: ["2026-11-21T03:00:00Z", "2026-11-21T03:00:30Z"],
  fields: [{ name: "tx_gbps", label: "Sent", unit: "Gbit/s" }],
};

function show(values: (number | null)[], withoutFlows: boolean) {
  const path = `/rnics/${PLACE.host}/${PLACE.pci}`;
  serve({
    [`GET ${path}/series`]: { ...SERIES, values: { tx_gbps: values } },
    [`GET ${path}/findings`]: [],
  });
  renderPage(
    <SeriesPanels {...PLACE} range={{}} walls={[]} withoutFlows={withoutFlows} onZoom={vi.fn()} onZoomOut={vi.fn()} />,
  );
}

describe("flows and masks of a host that reports none", () => {
  it("are explained once instead of asking for a longer range in each chart", async () => {
    show([null, null], true);
    expect(await screen.findByText("Flows are not measured on this host")).toBeInTheDocument();
    expect(screen.queryByText("No data in this range")).toBeNull();
    expect(screen.getByRole("link", { name: "Hardware" })).toHaveAttribute(
      "href",
      expect.stringContaining("tab=hardware"),
    );
  });

  it("are shown where the range has some", async () => {
    show([12, 13], true);
    expect(await screen.findByRole("heading", { name: "Throughput" })).toBeInTheDocument();
    expect(screen.queryByText("Flows are not measured on this host")).toBeNull();
  });

  it("are missing for another reason on a host that reports them", async () => {
    show([null, null], false);
    expect((await screen.findAllByText("No data in this range")).length).toBeGreaterThan(1);
  });
});
