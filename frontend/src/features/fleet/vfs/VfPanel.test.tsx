import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { VirtualFunction, VirtualFunctions } from "@/lib/api/types";
import { renderPage } from "@/testing/render";
import { VfPanel } from "./VfPanel";
import { contradiction, filterVfs, holderText, isAtLimit, limitText, settingsText } from "./vfText";
import { fromSorting, parseVfView, toSorting, type VfView } from "./vfView";

const AT = "2026-11-21T03:00:00Z";

function vf(number: number, more: Partial<VirtualFunction> = {}): VirtualFunction {
  return {
    vf: number,
    pci: `0000:3b:00.${number + 2}`,
    representor: `ens1f0_${number}`,
    netdev: null,
    state: "host",
    driver: "mlx5_core",
    tx_gbps: 0,
    rx_gbps: 0,
    tx_pps: 0,
    rx_pps: 0,
    drops_per_s: 0,
    tx_dropped: 0,
    rx_dropped: 0,
    max_tx_mbps: 0,
    min_tx_mbps: 0,
    vlan: 0,
    mac: null,
    link_state: null,
    trust: null,
    spoof_check: null,
    operstate: "up",
    values_missing: 0,
    container: null,
    ...more,
  };
}

const held = (since: string, more: Partial<NonNullable<VirtualFunction["container"]>> = {}) => ({
  id: "c0ffee00c0ffee00",
  pod: "ml/trainer-0",
  owner: null,
  labels: {},
  interface: "net1",
  addresses: ["10.0.0.2/24"],
  vxlan_network: 4097,
  since,
  ...more,
});

const FLEET: VirtualFunctions = {
  at: AT,
  stale_after_s: 360,
  numvfs: 4,
  totalvfs: 16,
  items: [
    vf(0, { state: "elsewhere", tx_gbps: 3.5, container: held("2026-11-21T01:00:00Z") }),
    vf(1, { tx_gbps: null, rx_gbps: null, driver: null, state: "unbound" }),
    vf(2, { state: "passthrough", driver: "vfio-pci", tx_gbps: 24.9, max_tx_mbps: 25_000 }),
    vf(3, { tx_gbps: 9, drops_per_s: 12.5 }),
  ],
};

function answer(body: unknown, status = 200) {
  vi.spyOn(globalThis, "fetch").mockImplementation(() => Promise.resolve(Response.json(body, { status })));
}
afterEach(() => vi.restoreAllMocks());

function Page({ initial = {}, onView }: { initial?: VfView; onView?: (view: VfView) => void }) {
  const [view, setView] = useState<VfView>(initial);
  return (
    <VfPanel
      host="host03"
      pci="0000:3b:00.0"
      view={view}
      onView={(next) => {
        setView(next);
        onView?.(next);
      }}
    />
  );
}

/** The numbers of the functions in the order of the rows. */
async function numbers(): Promise<string[]> {
  const table = await screen.findByRole("table", { name: "Virtual functions" });
  return within(table)
    .getAllByRole("row")
    .slice(1)
    .map((row) => within(row).getAllByRole("cell")[0]?.textContent ?? "");
}

describe("the panel of virtual functions", () => {
  it("names who holds each function, and says how many are in use", async () => {
    answer(FLEET);
    renderPage(<Page />);
    expect(await numbers()).toEqual(["0", "1", "2", "3"]);
    expect(screen.getByText("ml/trainer-0")).toBeInTheDocument();
    expect(screen.getByText("10.0.0.2/24")).toBeInTheDocument();
    expect(screen.getByText(/^2 of 4 in use/)).toBeInTheDocument();
    expect(screen.getByText("24.9 at limit")).toBeInTheDocument();
    expect(screen.getByText("12.5")).toBeInTheDocument();
  });

  it("says who runs the pod, shows its labels on request, and finds functions by both", async () => {
    const container = held("2026-11-21T01:00:00Z", { owner: "StatefulSet/trainer", labels: { app: "trainer" } });
    const used = vf(0, { state: "elsewhere", container });
    answer({ ...FLEET, items: [used, ...FLEET.items.slice(1)] });
    renderPage(<Page />);
    await userEvent.hover(await screen.findByText("StatefulSet/trainer"));
    expect(await screen.findByText(/app=trainer/)).toBeInTheDocument();
    for (const vfText of ["statefulset/tr", "app=trainer"])
      expect(filterVfs([used, vf(1)], { vfText })).toEqual([used]);
  });

  it("shows the labels of a bare pod, which nobody owns", async () => {
    const container = held("2026-11-21T01:00:00Z", { owner: null, labels: { app: "shell" } });
    answer({ ...FLEET, items: [vf(0, { state: "elsewhere", container })] });
    renderPage(<Page />);
    await userEvent.hover(await screen.findByText("labels"));
    expect(await screen.findByText("app=shell")).toBeInTheDocument();
  });

  it("sorts by a column, what is missing last in both directions, and keeps the order in the URL", async () => {
    answer(FLEET);
    const onView = vi.fn();
    renderPage(<Page onView={onView} />);
    await userEvent.click(await screen.findByRole("button", { name: "Sends Gbit/s" }));
    expect(await numbers()).toEqual(["2", "3", "0", "1"]);
    expect(onView).toHaveBeenLastCalledWith({ vfSort: "-tx" });
    await userEvent.click(screen.getByRole("button", { name: /^Sends/ }));
    expect(await numbers()).toEqual(["0", "3", "2", "1"]);
    expect(screen.getByRole("columnheader", { name: /^Sends/ })).toHaveAttribute("aria-sort", "ascending");
  });

  it("is filtered by text and by use, all by keyboard", async () => {
    answer(FLEET);
    const onView = vi.fn();
    renderPage(<Page onView={onView} />);
    await numbers();
    await userEvent.type(screen.getByRole("textbox", { name: "Filter virtual functions by text" }), "trainer");
    await vi.waitFor(() => expect(onView).toHaveBeenLastCalledWith({ vfText: "trainer" }));
    expect(await numbers()).toEqual(["0"]);
    await userEvent.tab();
    await userEvent.keyboard("{ArrowRight}{ArrowRight}");
    expect(await screen.findByText("No virtual function matches")).toBeInTheDocument();
    expect(onView).toHaveBeenLastCalledWith({ vfText: "trainer", vfUse: "free" });
  });

  it("is marked as stale when the samples are old", async () => {
    answer(FLEET);
    renderPage(<Page />);
    expect(await screen.findByText("Stale")).toBeInTheDocument();
  });

  it("is not stale while the samples are as old as their interval", async () => {
    answer({ ...FLEET, at: new Date(Date.now() - 100_000).toISOString() });
    renderPage(<Page />);
    await numbers();
    expect(screen.queryByText("Stale")).not.toBeInTheDocument();
  });

  it("distinguishes an RNIC without functions from one without samples", async () => {
    answer({ at: null, stale_after_s: 360, numvfs: 0, totalvfs: 16, items: [] });
    const { unmount } = renderPage(<Page />);
    expect(await screen.findByText("This RNIC has no virtual functions")).toBeInTheDocument();
    expect(screen.getByText(/It supports up to 16/)).toBeInTheDocument();
    unmount();
    answer({ at: null, stale_after_s: 360, numvfs: null, totalvfs: null, items: [] });
    renderPage(<Page />);
    expect(await screen.findByText("No virtual function samples in the last day")).toBeInTheDocument();
  });

  it("says what went wrong and offers to try again", async () => {
    answer(
      {
        type: "x",
        title: "The database does not answer",
        status: 503,
        code: "database_unavailable",
        detail: "Try again in a moment.",
        instance: "/",
        errors: [],
      },
      503,
    );
    renderPage(<Page />);
    expect(await screen.findByRole("alert")).toHaveTextContent("Try again in a moment.");
  });
});

describe("the text about a function", () => {
  it.each([
    [vf(0, { container: held(AT) }), "ml/trainer-0"],
    [vf(0, { container: held(AT, { pod: null }) }), "container c0ffee00c0ff"],
    [vf(0, { state: "elsewhere" }), "another network namespace"],
    [vf(0, { state: "unbound" }), "no driver is bound"],
    [vf(0), "free"],
    [vf(0, { state: null }), "unknown"],
  ])("who holds it (%#)", (one, text) => {
    expect(holderText(one)).toBe(text);
  });

  it("contradicts the CNI chain only with a sample that is younger than the container", () => {
    const one = vf(0, { state: "host", container: held("2026-11-21T02:00:00Z") });
    expect(contradiction(one, AT)).toMatch(/its network device is on the host/);
    expect(contradiction(one, "2026-11-21T01:59:00Z")).toBeNull();
    expect(contradiction(vf(0, { state: "unbound", container: held("2026-11-21T02:00:00Z") }), AT)).toMatch(
      /no driver is bound/,
    );
    expect(contradiction(vf(0, { state: "elsewhere", container: held("2026-11-21T02:00:00Z") }), AT)).toBeNull();
  });

  it("is at its limit from 95% of it, and never without one", () => {
    expect(isAtLimit(vf(0, { tx_gbps: 0.95, max_tx_mbps: 1000 }))).toBe(true);
    expect(isAtLimit(vf(0, { tx_gbps: 0.94, max_tx_mbps: 1000 }))).toBe(false);
    expect(isAtLimit(vf(0, { tx_gbps: 90, max_tx_mbps: 0 }))).toBe(false);
    expect(isAtLimit(vf(0, { tx_gbps: null, max_tx_mbps: 1000 }))).toBe(false);
  });

  it.each([
    [null, "–"],
    [0, "none"],
    [25_000, "25 Gbit/s"],
    [2500, "2500 Mbit/s"],
  ])("its limit of %s is %s", (mbps, text) => {
    expect(limitText(mbps)).toBe(text);
  });

  it("has the settings that the host reported, and only those", () => {
    expect(settingsText(vf(0, { trust: false, mac: "02:00:00:00:00:10", min_tx_mbps: 1000 }))).toBe(
      "representor ens1f0_0 (up) · MAC 02:00:00:00:00:10 · VLAN none · trust off · guaranteed rate 1 Gbit/s",
    );
    expect(settingsText(vf(0, { representor: null, vlan: null }))).toBe(
      "The host reported no settings for this function.",
    );
  });

  it("is found by anything that names it or its container, and not by its driver, which all have", () => {
    expect(filterVfs(FLEET.items, { vfText: "mlx5" })).toEqual([]);
    for (const vfText of ["VF 0", "00.2", "ens1f0_0", "TRAINER", "10.0.0.2", "c0ffee"])
      expect(filterVfs(FLEET.items, { vfText }).map((one) => one.vf)).toEqual([0]);
    expect(filterVfs(FLEET.items, { vfUse: "free" }).map((one) => one.vf)).toEqual([1, 3]);
  });
});

describe("the view in the URL", () => {
  it.each([
    [{}, {}],
    [
      { vfText: " ml ", vfUse: "used", vfSort: "-tx", range: "1h" },
      { vfText: "ml", vfUse: "used", vfSort: "-tx" },
    ],
    [{ vfText: " ", vfUse: "all", vfSort: "-nothing" }, {}],
  ])("reads %j as %j", (search, expected) => {
    expect(parseVfView(search)).toEqual(expected);
  });

  it("writes an order as it reads it", () => {
    for (const vfSort of ["tx", "-tx"]) expect(fromSorting(toSorting({ vfSort }))).toBe(vfSort);
    expect(fromSorting([])).toBeUndefined();
  });
});
