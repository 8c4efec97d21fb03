import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { FleetIsolation, RnicBreakage } from "@/lib/api/types";
import { renderPage } from "@/testing/render";
import { problem, serve } from "@/testing/server";
import { matchingHosts, matchingRnics, matchingVfs, nothingPromised, parseTenantFilters } from "./filters";
import { mainMechanism } from "./FleetFigures";
import { TenantsPage } from "./TenantsPage";

afterEach(() => vi.restoreAllMocks());

const rnic = (host: string, changes: Partial<RnicBreakage> = {}): RnicBreakage => ({
  host,
  pci: "0000:3b:00.0",
  rack: "r1",
  model: "CX-6",
  broken_s: 200,
  estimated_s: 0,
  last_broken_at: new Date(Date.now() - 9_000_000).toISOString(),
  mechanisms: [{ mechanism: "ingress packet rate", seconds: 200 }],
  victims: [{ vf: 0, pod: "payments/api", tenant: "payments", broken_s: 200 }],
  aggressors: [{ vf: 2, pod: "ads/indexer", tenant: "ads", aggressor_s: 180 }],
  pairs: [],
  ...changes,
});
const tenant = (name: string | null, broken_s: number, aggressor_s: number, kept_share: number | null) => ({
  ...{ tenant: name, vfs: 4, broken_s, aggressor_s, unknown_s: 0, kept_share },
});
const WHERE = { host: "host01", pci: "0000:3b:00.0" };
const UNREAD = { owner: null, labels: {} };
const API_POD = { vf: 0, pod: "payments/api", owner: "Deployment/api", labels: { app: "api" }, tenant: "payments" };
const FLEET: FleetIsolation = {
  since: "2026-11-22T18:00:00Z",
  until: "2026-11-23T18:00:00Z",
  broken_s: 260,
  unknown_s: 40,
  rnics: [
    rnic("host01"),
    rnic("host07", {
      broken_s: 60,
      victims: [],
      aggressors: [],
      mechanisms: [{ mechanism: null, seconds: 60 }],
    }),
  ],
  rnics_total: 2,
  hosts: [
    {
      host: "host01",
      rack: "r1",
      rnics: 1,
      broken_s: 200,
      last_broken_at: new Date(Date.now() - 9_000_000).toISOString(),
    },
    { host: "host07", rack: null, rnics: 2, broken_s: 60, last_broken_at: new Date(Date.now() - 60_000).toISOString() },
  ],
  victims: [{ ...WHERE, ...API_POD, seconds: 200 }],
  aggressors: [
    { ...WHERE, ...UNREAD, vf: 2, pod: "ads/indexer", tenant: "ads", seconds: 180 },
    { ...WHERE, ...UNREAD, host: "host07", vf: 4, pod: null, tenant: null, seconds: 9 },
  ],
  tenants: [tenant("payments", 200, 0, 0.998), tenant("ads", 0, 180, 1), tenant(null, 0, 0, null)],
};
const QUIET: FleetIsolation = {
  ...FLEET,
  ...{ broken_s: 0, unknown_s: 0, rnics: [], rnics_total: 0, hosts: [], victims: [], aggressors: [], tenants: [] },
};
const RULES = { rules: [], version: 0, updated_at: null, updated_by: null };

function show(fleet: unknown, rules: unknown = RULES, filters = {}) {
  const onFilters = vi.fn();
  serve({ "GET /isolation/fleet": fleet, "GET /isolation/slo-rules": rules });
  renderPage(<TenantsPage filters={filters} onFilters={onFilters} />);
  return onFilters;
}

describe("the page Tenants", () => {
  it("lists RNICs with aggressor, victim and mechanism, and what each tenant suffered and caused", async () => {
    show(FLEET);
    const table = await screen.findByRole("table", { name: "RNICs with broken promises" });
    const [first, second] = within(table).getAllByRole("row").slice(1);
    expect(first).toHaveTextContent(/^host01 0000:3b:00\.0CX-6 · r13 min 20 s2 h \d+ min ago/);
    expect(first).toHaveTextContent("packet rateads/indexer VF 2 · 3 minpayments/api VF 0 · 3 min 20 s");
    expect(second).toHaveTextContent("undetermined");
    const tenants = screen.getByRole("table", { name: "By tenant" });
    expect(within(tenants).getByRole("row", { name: /^payments/ })).toHaveTextContent("99.800%");
    expect(within(tenants).getByRole("row", { name: /^unknown tenant/ })).toHaveTextContent("no evidence");
    expect(screen.getByLabelText("Summary")).toHaveTextContent("Main mechanismpacket rate77% of broken seconds");
  });

  it("says who runs the pods of victims, with their labels on request", async () => {
    show(FLEET, RULES, { by: "victim" });
    const victims = await screen.findByRole("table", { name: "By victim" });
    await userEvent.hover(within(victims).getByText("Deployment/api"));
    expect(await screen.findByText(/app=api/)).toBeInTheDocument();
  });

  it("asks for the chosen range, and changes it in the URL", async () => {
    const onFilters = show(FLEET, RULES, { range: "1h" });
    await screen.findByRole("table", { name: "By tenant" });
    await userEvent.click(screen.getByText("Week"));
    expect(onFilters).toHaveBeenCalledWith({ range: "7d" });
    await userEvent.click(screen.getByRole("button", { name: "ads" }));
    expect(onFilters).toHaveBeenLastCalledWith({ range: "1h", tenant: "ads" });
  });

  it("groups broken seconds by host, victim or aggressor, as the URL says", async () => {
    const onFilters = show(FLEET, RULES, { by: "host" });
    const hosts = await screen.findByRole("table", { name: "By host" });
    expect(within(hosts).getAllByRole("row")[1]).toHaveTextContent(/^host01r113 min 20 s2 h \d+ min ago$/);
    await userEvent.click(within(hosts).getByRole("button", { name: "host07" }));
    expect(onFilters).toHaveBeenLastCalledWith({ by: "host", host: "host07" });
    await userEvent.click(screen.getByText("Aggressor", { selector: "label *, label" }));
    expect(onFilters).toHaveBeenLastCalledWith({ by: "aggressor" });
  });

  it("lists the worst aggressors of the fleet with their pods, tenants and RNICs", async () => {
    const onFilters = show(FLEET, RULES, { by: "aggressor" });
    const [, first, second] = within(await screen.findByRole("table", { name: "By aggressor" })).getAllByRole("row");
    expect(first).toHaveTextContent("ads/indexer VF 2adshost01 0000:3b:00.03 min");
    expect(second).toHaveTextContent(/^VF 4 unknown tenanthost07/);
    await userEvent.click(screen.getByRole("button", { name: "ads" }));
    expect(onFilters).toHaveBeenLastCalledWith({ by: "aggressor", tenant: "ads" });
  });

  it("says why hosts cannot be filtered by tenant", async () => {
    show(FLEET, RULES, { by: "host", tenant: "ads" });
    expect(await screen.findByText(/^Hosts are not counted by tenant/)).toBeInTheDocument();
  });

  it("leads to the editor while nothing is promised, and is glad only where something is", async () => {
    show(QUIET);
    expect(await screen.findByText("Nothing is promised to any VF yet")).toBeInTheDocument();
    expect(screen.getByRole("link", { name: "Define SLOs" })).toBeInTheDocument();
  });

  it("says that no promise was broken where rules exist", async () => {
    show(QUIET, { ...RULES, rules: [{ matchers: [], slo_class: "gold" }], version: 1 });
    expect(await screen.findByText("No promise was broken in the last day")).toBeInTheDocument();
  });

  it("says that the filters hide all", async () => {
    show(FLEET, RULES, { host: "host99" });
    expect(await screen.findByText("No RNIC matches these filters")).toBeInTheDocument();
  });

  it("shows the error with a way to try again", async () => {
    show(problem(503, "database_unavailable", "The database does not answer"));
    expect(await screen.findByRole("alert")).toHaveTextContent("The database does not answer");
    expect(screen.getByRole("button", { name: "Try again" })).toBeInTheDocument();
  });
});

describe("its filters", () => {
  it("take from the URL only what they know", () => {
    expect(parseTenantFilters({ range: "7d", host: " host1 ", tenant: "ads", by: "victim" })).toEqual({
      range: "7d",
      host: "host1",
      tenant: "ads",
      by: "victim",
    });
    expect(parseTenantFilters({ range: "5m", host: "  ", tenant: 7, by: "rack" })).toEqual({});
  });

  it("find a tenant as victim and as aggressor", () => {
    const hosts = (filters: object) => matchingRnics(FLEET.rnics, filters).map((each) => each.host);
    expect(hosts({ tenant: "ads" })).toEqual(["host01"]);
    expect(hosts({ tenant: "payments", host: "HOST01 0000" })).toEqual(["host01"]);
    expect(hosts({ tenant: "shop" })).toEqual([]);
  });

  it("find VFs by host and tenant, and hosts by their name", () => {
    const vfs = (filters: object) => matchingVfs(FLEET.aggressors, filters).map((each) => each.vf);
    expect(vfs({})).toEqual([2, 4]);
    expect(vfs({ host: "HOST07" })).toEqual([4]);
    expect(vfs({ tenant: "-" })).toEqual([4]);
    expect(matchingHosts(FLEET.hosts, { host: "07" }).map((each) => each.host)).toEqual(["host07"]);
  });

  it("tell no promise from no breakage", () => {
    expect(nothingPromised(QUIET, 0)).toBe(true);
    expect(nothingPromised(QUIET, 1)).toBe(false);
    expect(nothingPromised({ ...QUIET, tenants: [tenant("a", 0, 0, 1)] }, 0)).toBe(false);
  });

  it("know the main mechanism, and that there is none", () => {
    expect(mainMechanism(FLEET.rnics)).toEqual({ mechanism: "ingress packet rate", share: 200 / 260 });
    expect(mainMechanism([])).toBeNull();
  });
});
