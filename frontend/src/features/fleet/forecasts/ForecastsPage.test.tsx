import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { FleetForecast, ForecastCounts, ForecastModel } from "@/lib/api/types";
import { LiveProvider } from "@/lib/stream/LiveContext";
import { toColumns } from "@/testing/columns";
import { renderPage } from "@/testing/render";
import { ForecastsPage } from "./ForecastsPage";

// The filters offer the racks and models of the fleet.
const FLEET = {
  as_of: "2026-01-01T00:00:00Z",
  seq: 1,
  stale_after_s: 45,
  columns: toColumns([{ host: "host01", rack: "r1", model: "CX-6" }]),
};

const LIKELY: FleetForecast = {
  host: "host01",
  pci: "0000:3b:00.0",
  rack: "r1",
  model: "CX-6",
  made_at: "2026-01-01T00:00:00Z",
  wall: "egress_masks",
  label: "Egress masks",
  earliest_in_s: 300,
  likely_in_s: 900,
  latest_in_s: 1800,
  chance: 0.81,
  confidence: "medium",
  decline_share: 0.01,
  decline_since: null,
  decline_in_s: null,
  cold_start: false,
  policy_violated: true,
};
const REST: FleetForecast = { ...LIKELY, host: "host02", likely_in_s: null, latest_in_s: null, chance: 0.12 };

let listed: FleetForecast[];
let counts: ForecastCounts;
let models: Partial<ForecastModel>[];
let asked: URL[];
let broken: boolean;

beforeEach(() => {
  listed = [LIKELY];
  counts = { at_limit: 0, likely: 1, others: 30, declining: 0 };
  models = [{ id: "b45e", role: "base", problem: null, live: {}, judged: null, trained_at: "2026-01-01T00:00:00Z" }];
  asked = [];
  broken = false;
  // What jsdom does not measure: a window of eight rows.
  vi.spyOn(Element.prototype, "clientHeight", "get").mockReturnValue(400);
  vi.spyOn(HTMLElement.prototype, "offsetHeight", "get").mockReturnValue(50);
  vi.spyOn(globalThis, "fetch").mockImplementation((input) => {
    const url = new URL((input as Request).url);
    if (url.pathname.endsWith("/fleet")) return Promise.resolve(Response.json(FLEET));
    asked.push(url);
    if (url.pathname.endsWith("/forecast-models")) return Promise.resolve(Response.json(models));
    if (broken) return Promise.resolve(Response.json({ title: "Down", status: 503, code: "down" }, { status: 503 }));
    if (url.pathname.endsWith("/counts")) return Promise.resolve(Response.json(counts));
    const items = url.searchParams.get("expected") === "false" ? [REST] : listed;
    return Promise.resolve(Response.json({ items, next_cursor: null }));
  });
});
afterEach(() => vi.restoreAllMocks());

const show = (filters = {}) =>
  renderPage(
    <LiveProvider>
      <main>
        <ForecastsPage filters={filters} onFilters={() => undefined} />
      </main>
    </LiveProvider>,
  );

describe("the page of forecasts", () => {
  it("counts what is at a limit and what is likely, and lists only that", async () => {
    show();
    expect(await screen.findByRole("region", { name: "Likely within 1 h" })).toHaveTextContent("1");
    expect(screen.getByRole("region", { name: "At a limit now" })).toHaveTextContent("0");
    const table = await screen.findByRole("table", { name: "Forecasts" });
    expect(table).toHaveTextContent(/host01.*Egress masks.*in 15 min.*5 min to 30 min.*81%.*medium/);
    expect(screen.queryByText(/Policy violated/)).not.toBeInTheDocument();
    expect(screen.queryByText(/host02/)).not.toBeInTheDocument();
  });

  it("draws when the likely ones reach their limit, and nothing where none does", async () => {
    const { unmount } = show();
    const panel = await screen.findByRole("region", { name: "The next 60 minutes" });
    const rows = within(within(panel).getByRole("list", { name: "When limits are reached" })).getAllByRole("listitem");
    expect(rows).toHaveLength(1);
    expect(rows[0]).toHaveTextContent(/host01 3b:00.0.*Egress masks.*15 min/);
    expect(within(panel).getByRole("img", { name: "in 15 min, 90% interval 5 min to 30 min" })).toBeVisible();
    unmount();
    listed = [{ ...LIKELY, earliest_in_s: 0, likely_in_s: 0, latest_in_s: 0 }];
    show();
    expect(await screen.findByText("at limit now")).toBeVisible();
    expect(screen.queryByRole("region", { name: "The next 60 minutes" })).not.toBeInTheDocument();
  });

  it("offers the racks and models of the fleet as filters", async () => {
    show();
    await userEvent.click(await screen.findByRole("combobox", { name: "Filter by rack" }));
    expect(await screen.findByRole("option", { name: "r1" })).toBeInTheDocument();
  });

  it("folds all others under one line, and fetches them when it is opened", async () => {
    show();
    const line = await screen.findByText("30 RNICs are not expected to reach a limit within 1 h");
    expect(asked.some((url) => url.searchParams.get("expected") === "false")).toBe(false);
    await userEvent.click(line);
    const table = await screen.findByRole("table", { name: "RNICs not expected to reach a limit" });
    expect(table).toHaveTextContent(/host02.*not expected within the hour.*12%/);
  });

  it("has one notice while the base model forecasts, and none with a model of the fleet", async () => {
    const { unmount } = show();
    expect(await screen.findByRole("alert")).toHaveTextContent("Base model: medium confidence");
    unmount();
    models = [{ ...models[0], role: "champion" }];
    show();
    expect(await screen.findByText("Active model: b45e")).toBeInTheDocument();
    expect(screen.queryByRole("alert")).not.toBeInTheDocument();
  });

  it("says that nothing is expected, or that there is no forecast at all", async () => {
    listed = [];
    counts = { at_limit: 0, likely: 0, others: 31, declining: 0 };
    const { unmount } = show();
    expect(await screen.findByText("No RNIC is at a limit or likely to reach one")).toBeInTheDocument();
    unmount();
    counts = { at_limit: 0, likely: 0, others: 0, declining: 0 };
    show();
    expect(await screen.findByText("No forecast yet")).toBeInTheDocument();
  });

  it("shows declines of bandwidth alone, without the line about limits", async () => {
    counts = { at_limit: 0, likely: 0, others: 31, declining: 2 };
    show({ declining: true });
    const panel = await screen.findByRole("region", { name: "Bandwidth declines" });
    expect(await within(panel).findByRole("table")).toBeInTheDocument();
    expect(await screen.findByRole("checkbox", { name: "Bandwidth declines only (2)" })).toBeChecked();
    expect(screen.queryByText(/not expected to reach a limit within/)).not.toBeInTheDocument();
  });

  it("says what is wrong once, and asks again", async () => {
    broken = true;
    show();
    expect(await screen.findAllByText("Down")).toHaveLength(1);
    expect(screen.getByRole("search", { name: "Filter forecasts" })).toBeInTheDocument();
    broken = false;
    await userEvent.click(screen.getByRole("button", { name: "Try again" }));
    expect(await screen.findByRole("table", { name: "Forecasts" })).toBeInTheDocument();
    expect(screen.queryByText("Down")).not.toBeInTheDocument();
  });
});
