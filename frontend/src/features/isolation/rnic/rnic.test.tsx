import { fireEvent, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, describe, expect, it, vi } from "vitest";
import { ACTIONS } from "../../../../mock/answers.mjs";
import type { IsolationStrip } from "@/lib/api/types";
import { AGGRESSOR, HOST, PCI, rnicOf, vfOf, VICTIM } from "@/testing/isolation";
import { renderPage } from "@/testing/render";
import { problem, serve, signedIn } from "@/testing/server";
import { RnicVfsPage } from "./RnicVfsPage";

afterEach(() => vi.restoreAllMocks());

const NOW = Math.floor(Date.now() / 1000);
const at = (second: number) => new Date((NOW - 300 + second) * 1000).toISOString();
const STRIP: IsolationStrip = {
  since: at(0),
  until: at(300),
  step_s: 1,
  vfs: [
    { vf: 0, pod: "payments/api", tenant: "payments", cells: [] },
    {
      vf: 2,
      pod: "ads/indexer",
      tenant: "ads",
      cells: [
        { at: at(10), state: "not promised", broken_s: 0, aggressor_s: 1 },
        { at: at(299), state: "unknown", broken_s: 0, aggressor_s: 0 },
      ],
    },
  ],
};
const RNIC = `GET /isolation/rnics/${HOST}/${PCI}`;

function show(answers: Record<string, unknown> = {}, role: "viewer" | "operator" = "operator", view = {}) {
  const onView = vi.fn();
  const asked = serve({
    "GET /session": signedIn(role),
    [RNIC]: rnicOf(),
    [`${RNIC}/strip`]: STRIP,
    "GET /incidents": { items: [], next_cursor: null },
    "GET /remedy-actions": ACTIONS,
    ...answers,
  });
  renderPage(<RnicVfsPage host={HOST} pci={PCI} view={view} onView={onView} />);
  return { onView, asked };
}

describe("the VFs of an RNIC", () => {
  it("shows rates against the envelope, delay against the SLO, state and part of each", async () => {
    show();
    const table = await screen.findByRole("table", { name: "VFs and their promises" });
    const victim = within(table).getByRole("row", { name: /payments\/api/ });
    expect(within(victim).getByRole("img", { name: "Sends 3.2 Gbit/s; envelope 1 to 10 Gbit/s" })).toBeInTheDocument();
    expect(victim).toHaveTextContent("3.2 of 10 Gbit/s");
    expect(victim).toHaveTextContent("▲ 1.27 ms of 50 µs");
    expect(victim).toHaveTextContent("1 min 15 sbrokenvictim".replace("broken", "◆broken"));
    const aggressor = within(table).getByRole("row", { name: /ads\/indexer/ });
    expect(aggressor).toHaveTextContent("caused 1 min 15 s");
    expect(aggressor).toHaveTextContent("not promisedaggressor");
    expect(screen.getByLabelText("Now")).toHaveTextContent("Promises broken now1 VFby 1 aggressor");
  });

  it("puts the one that made others suffer first in the strips, and reads steps by keyboard", async () => {
    show();
    const strips = await screen.findAllByRole("slider");
    expect(strips.map((strip) => strip.getAttribute("aria-label"))).toEqual([
      "ads/indexer over time: aggressor 1 s, unknown 1 s",
      "payments/api over time: not promised",
    ]);
    const [first] = strips;
    if (!first) throw new Error("no strip");
    first.focus();
    expect(first).toHaveAttribute("aria-valuetext", expect.stringContaining("unknown"));
    fireEvent.keyDown(first, { key: "Home" });
    for (let i = 0; i < 10; i++) fireEvent.keyDown(first, { key: "ArrowRight" });
    expect(first).toHaveAttribute("aria-valuetext", expect.stringContaining("not promised, aggressor"));
    fireEvent.keyDown(first, { key: "ArrowLeft" });
    expect(first).toHaveAttribute("aria-valuetext", expect.stringContaining("no data"));
  });

  it("opens the remedy with the VF and the rate of its fair share", async () => {
    show();
    await userEvent.click(await screen.findByRole("button", { name: "Limit the rate of ads/indexer" }));
    const dialog = await screen.findByRole("dialog");
    expect(await within(dialog).findByLabelText(/^Limit/)).toHaveValue("5,000 Mbit/s");
    expect(within(dialog).getByLabelText(/^VF/)).toHaveValue("2");
    expect(dialog).toHaveTextContent(
      "It sends 20 Gbit/s and takes 80% of what the RNIC can carry; its fair share is 20%",
    );
  });

  it("offers a viewer nothing to change", async () => {
    show({}, "viewer");
    await screen.findByRole("table", { name: "VFs and their promises" });
    expect(screen.queryByRole("button", { name: /Limit/ })).not.toBeInTheDocument();
  });

  it("keeps the order in the URL", async () => {
    const { onView } = show();
    await userEvent.click(await screen.findByRole("button", { name: "Sends" }));
    expect(onView).toHaveBeenCalledWith({ sort: "-tx" });
  });

  it("says what is missing when no VF reports, and when the filter hides all", async () => {
    show({ [RNIC]: rnicOf({ vfs: [], at: null, numvfs: null }) });
    expect(await screen.findByText("No VF of this RNIC reports its traffic")).toBeInTheDocument();
  });

  it("says that an RNIC has no VFs, which is nothing stale", async () => {
    show({ [RNIC]: rnicOf({ vfs: [], at: null, numvfs: 0 }) });
    expect(await screen.findByText("This RNIC has no VFs")).toBeInTheDocument();
    expect(screen.queryByText("Stale")).not.toBeInTheDocument();
  });

  it("says how many VFs are silent", async () => {
    show({ [RNIC]: rnicOf({ vfs: [], at: null, numvfs: 16 }) });
    expect(await screen.findByText("None of 16 VFs reports its traffic")).toBeInTheDocument();
  });

  it("shows the error of the API", async () => {
    show({ [RNIC]: problem(404, "not_found", "There is no such RNIC") });
    expect(await screen.findByRole("alert")).toHaveTextContent("There is no such RNIC");
  });

  it("filters by text and by part", async () => {
    show({ [RNIC]: rnicOf({ vfs: [VICTIM, AGGRESSOR, vfOf({ vf: 7, pod: "shop/cart" })] }) }, "viewer", {
      show: "affected",
      q: "ads",
    });
    const table = await screen.findByRole("table", { name: "VFs and their promises" });
    expect(within(table).getAllByRole("row")).toHaveLength(2);
  });
});
