import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { SloReport, SloReportRow } from "@/lib/api/types";
import { renderPage } from "@/testing/render";
import { problem, serve } from "@/testing/server";
import { ReportPage } from "./ReportPage";
import { budgetText, totalsOf, usedBudget } from "./reportText";
import { monthBy, monthChoices, monthName, monthOf, parseReportSearch, reportHref } from "./search";

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const row = (tenant: string | null, changes: Partial<SloReportRow> = {}): SloReportRow => ({
  ...{ tenant, host: null, pci: null, vf: null, pods: [], owners: [], vfs: 4 },
  ...{ kept_s: 99_900, broken_s: 100, unknown_s: 0, not_promised_s: 0, aggressor_s: 0, kept_share: 0.999 },
  ...{ budget_s: 1000, budget_left_s: 900, met: true },
  ...changes,
});
const MISSED = row("payments", { broken_s: 1200, budget_left_s: -200, met: false, kept_share: 0.988 });
const UNKNOWN = row("infra", {
  ...{ kept_s: 0, broken_s: 0, unknown_s: 86_400, kept_share: null, budget_s: 0, budget_left_s: 0, met: null },
});
const REPORT: SloReport = {
  ...{ month: "2026-10", since: "2026-10-01T00:00:00Z", until: "2026-11-01T00:00:00Z", by: "tenant", objective: 0.999 },
  rows: [MISSED, UNKNOWN, row("shop")],
};

function show(report: unknown = REPORT, search = {}) {
  const onSearch = vi.fn();
  const asked = serve({ "GET /isolation/report": report });
  renderPage(<ReportPage search={search} onSearch={onSearch} />);
  return { onSearch, asked };
}

describe("the monthly report", () => {
  it("shows what was kept, the budget, and what is unknown apart from both", async () => {
    show(REPORT, { month: "2026-10" });
    const table = await screen.findByRole("table", { name: "SLO report" });
    expect(within(table).getByRole("row", { name: /payments/ })).toHaveTextContent(
      /missed98\.8%20 min.*exceeded by 3 min 20 s/,
    );
    expect(within(table).getByRole("row", { name: /infra/ })).toHaveTextContent(/no evidence–none.*24 h/);
    expect(within(table).getByRole("row", { name: /shop/ })).toHaveTextContent("15 min of 16 min left");
    expect(screen.getByLabelText("Summary")).toHaveTextContent("missed by 1 tenant");
  });

  it("names what ran the pods of a VF, where Kubernetes said so", async () => {
    const vf = (number: number, pod: string, owners: string[]) =>
      row("shop", { host: "host01", pci: "0000:3b:00.0", vf: number, pods: [pod], owners, vfs: 1 });
    show({ ...REPORT, by: "vf", rows: [vf(0, "shop/web", ["Deployment/web"]), vf(1, "shop/bare", [])] }, { by: "vf" });
    const table = await screen.findByRole("table", { name: "SLO report" });
    expect(within(table).getByRole("row", { name: /shop\/web/ })).toHaveTextContent(/0000:3b:00\.0Deployment\/webshop/);
    expect(within(table).getByRole("row", { name: /shop\/bare/ })).toHaveTextContent(/0000:3b:00\.0shop/);
  });

  it("is downloaded as it is shown", async () => {
    show(REPORT, { month: "2026-10", by: "vf", objective: 0.99 });
    const link = await screen.findByRole("link", { name: "Download CSV" });
    expect(link).toHaveAttribute("href", "/api/v1/isolation/report?month=2026-10&by=vf&objective=0.99&format=csv");
    expect(link).toHaveAttribute("download", "wallwatch-slo-2026-10-by-vf.csv");
    expect(screen.getByRole("link", { name: "Download JSON" })).toBeInTheDocument();
  });

  it("goes from month to month, and not into the future", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.parse("2026-11-30T23:59:59Z") }); // the month does not end meanwhile
    const { onSearch, asked } = show();
    await screen.findByRole("table", { name: "SLO report" });
    const month = "2026-11";
    expect(asked[0]?.query.get("month")).toBe(month);
    expect(screen.getByRole("button", { name: "Next month" })).toBeDisabled();
    await userEvent.click(screen.getByRole("button", { name: "Previous month" }));
    expect(onSearch).toHaveBeenCalledWith({ month: monthBy(month, -1) });
  });

  it("says when there is nothing to report, and when the API fails", async () => {
    show({ ...REPORT, rows: [] }, { month: "2026-10" });
    expect(await screen.findByText("No verdicts in October 2026")).toBeInTheDocument();
  });

  it("shows the error of the API", async () => {
    show(problem(503, "down", "The database does not answer"));
    expect(await screen.findByRole("alert")).toHaveTextContent("The database does not answer");
  });
});

describe("its numbers", () => {
  it("know how much of the budget is used, also without evidence and without a budget", () => {
    expect([MISSED, row("a"), UNKNOWN].map(usedBudget)).toEqual([1.2, 0.1, null]);
    expect(usedBudget(row("a", { budget_s: 0, budget_left_s: -1 }))).toBe(Infinity);
    expect(budgetText(UNKNOWN)).toBe("no evidence");
  });

  it("add up without counting unknown seconds as kept", () => {
    expect(totalsOf({ rows: [UNKNOWN] })).toMatchObject({ keptShare: null, unknownS: 86_400, met: 0, missed: 0 });
    expect(totalsOf({ rows: [MISSED, row("a")] })).toMatchObject({ met: 1, missed: 1, brokenS: 1300 });
  });
});

describe("its months", () => {
  it("are counted over the turn of a year, in UTC", () => {
    expect([monthBy("2026-01", -1), monthBy("2026-12", 1), monthName("2026-02")]).toEqual([
      "2025-12",
      "2027-01",
      "February 2026",
    ]);
    expect(monthOf(Date.parse("2026-11-01T00:30:00+01:00"))).toBe("2026-10");
  });

  it("list a year, and one that lies further back while it is chosen", () => {
    const now = Date.parse("2026-11-23T00:00:00Z");
    expect(monthChoices(now, "2026-11")).toHaveLength(12);
    expect(monthChoices(now, "2024-03").at(-1)).toEqual({ value: "2024-03", label: "March 2024" });
  });

  it("are taken from the URL only when they are months", () => {
    expect(parseReportSearch({ month: "2026-10", by: "vf", objective: "0.99" })).toEqual({
      month: "2026-10",
      by: "vf",
      objective: 0.99,
    });
    expect(parseReportSearch({ month: "2026-13", by: "host", objective: "0.5" })).toEqual({});
    expect(parseReportSearch({ objective: "0.999" })).toEqual({});
    expect(reportHref("2026-10", "tenant", 0.999, "json")).toContain("format=json");
  });
});
