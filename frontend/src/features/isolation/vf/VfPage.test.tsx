import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { VfHistory } from "@/lib/api/types";
import { HOST, PCI, VICTIM, vfOf } from "@/testing/isolation";
import { renderPage } from "@/testing/render";
import { problem, serve, signedIn } from "@/testing/server";
import { VfPage } from "./VfPage";

afterEach(() => vi.restoreAllMocks());

const at = (secondsAgo: number) => new Date(Date.now() - secondsAgo * 1000).toISOString();
const HISTORY: VfHistory = {
  ...VICTIM,
  ...{ host: HOST, pci: PCI, at: at(1), step_s: 5 },
  series: [
    {
      ...{ at: at(60), tx_mbps: 3000, rx_mbps: 10, tx_mbps_max: 3000, rx_mbps_max: 10, tx_kpps: 1, rx_kpps: 1 },
      ...{ delay_p50_us: null, delay_p99_us: null, dropped: 0, share: 0.1, fair_share: 0.2 },
      ...{ kept_s: 5, broken_s: 0, unknown_s: 0, not_promised_s: 0, aggressor_s: 0 },
    },
  ],
  broken: [
    {
      ...{ at: at(30), interval_s: 10, estimated: true, mechanism: "ingress packet rate", role: "victim" },
      reason: "p99 delay 1,270 µs, promised 50 µs",
      aggressors: [{ vf: 2, pod: "ads/indexer", tenant: "ads", share: 0.78, fair_share: 0.21 }],
      victims: [{ vf: 0, pod: "payments/api", tenant: "payments", reason: "" }],
    },
  ],
  broken_total: 1,
  holders: [
    {
      ...{ pod: "payments/api", owner: "Deployment/api", labels: { app: "api" }, tenant: "payments", container: null },
      ...{ since: at(7200), until: null },
    },
    {
      ...{ pod: null, owner: null, labels: {}, tenant: null, container: "c0ffee00c0ffee00" },
      ...{ since: at(9000), until: at(7200) },
    },
  ],
};
const PATH = `GET /isolation/rnics/${HOST}/${PCI}/vfs/0`;

function show(history: unknown = HISTORY, role: "viewer" | "operator" = "operator") {
  const onRange = vi.fn();
  serve({ "GET /session": signedIn(role), [PATH]: history });
  renderPage(<VfPage host={HOST} pci={PCI} vf={0} range={{}} onRange={onRange} />);
  return onRange;
}

describe("the page of a VF", () => {
  it("says who did it: aggressors with share against fair share, mechanism, victims", async () => {
    show();
    const table = await screen.findByRole("table", { name: "Broken promises" });
    const row = within(table).getAllByRole("row")[1];
    expect(row).toHaveTextContent(
      /10 sestimated.*victimpacket rateads\/indexer VF 278%, fair 21%payments\/api VF 0p99 delay/,
    );
    expect(within(table).getByRole("img", { name: /takes 78% .* fair share 21%/ })).toBeInTheDocument();
    expect(screen.getByText("1 time, 1 interval")).toBeInTheDocument();
  });

  it("names the pods in turn, and the promise with its source", async () => {
    show();
    const pods = await screen.findByRole("table", { name: "Pods that held this VF" });
    expect(pods).toHaveTextContent(/payments\/api Deployment\/apipayments.*holds it now/);
    expect(pods).toHaveTextContent("container c0ffee00c0ffunknown tenant");
    expect(screen.getByRole("banner")).toHaveTextContent(
      "Promised: gold, 1 to 10 Gbit/s · p50 ≤ 10 µs · p99 ≤ 50 µs · loss ≤ 0.01% (assigned by rule 1)",
    );
  });

  it("draws what was measured, and says what is missing where nothing was", async () => {
    show();
    expect(await screen.findByRole("img", { name: /^Rates over time/ })).toBeInTheDocument();
    expect(screen.getByRole("img", { name: /^Share of the RNIC over time/ })).toBeInTheDocument();
    expect(screen.getByText(/enable probes/)).toBeInTheDocument();
  });

  it("changes its range in the URL", async () => {
    const onRange = show();
    await userEvent.click(await screen.findByText("6h"));
    expect(onRange).toHaveBeenCalledWith({ range: "6h" });
  });

  it("says that nothing was promised and nothing broken, and offers a viewer no change", async () => {
    show({ ...HISTORY, ...vfOf({ slo: null, state: "not promised" }), broken: [], broken_total: 0 }, "viewer");
    expect(await screen.findByText("No promise was broken in this range")).toBeInTheDocument();
    expect(screen.getByRole("link", { name: "Assign an SLO" })).toBeInTheDocument();
    expect(screen.queryByRole("button", { name: /Limit/ })).not.toBeInTheDocument();
  });

  it("shows the error of the API and the way to the other VFs", async () => {
    show(problem(404, "not_found", "There is no such VF"));
    expect(await screen.findByRole("alert")).toHaveTextContent("There is no such VF");
    expect(screen.getByRole("link", { name: "See all VFs of this RNIC" })).toBeInTheDocument();
  });
});
