import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { ChartTheme } from "@/charts/chartTheme";
import { residualsToOption } from "@/charts/residuals/toOption";
import type { RnicPerformance } from "@/lib/api/types";
import { parseProfileSearch } from "./filters";
import { masksOfText, nameTellsMasks, textOfLog, tooMuch } from "./logFile";
import { estimateText, placed, queriesOf, scopeText, verdictOf } from "./profileText";

const performance: RnicPerformance = {
  model: "CX-6",
  number: 0,
  at: "2026-01-01T00:00:00Z",
  q_l: 10,
  q_r: 5,
  q_r_basis: "peers",
  peers_known: 1,
  measured_gbps: 50,
  minutes: 5,
  bandwidth_gbps: { value: 100, lower: 90, upper: 110 },
  latency_us: { value: 3, lower: 2, upper: 4 },
  full: false,
  above: false,
  head_gbps: 158,
  head_us: 2.7,
  path: [],
};

describe("a profile's page in the URL", () => {
  it("keeps a version, a comparison and the quantity, and drops what they cannot be", () => {
    expect(parseProfileSearch({ version: "0", compare: "3", quantity: "latency" })).toEqual({
      version: 0,
      compare: 3,
      quantity: "latency",
    });
    expect(parseProfileSearch({ version: "-1", compare: "x", quantity: "luck" })).toEqual({});
  });
});

describe("logs of perftest", () => {
  const text = "Send Latency Test\n #bytes\n#, usec\n1, 2.71\n2, 2.7e+00\n 2 1000 2.71\n";
  const kept = "Send Latency Test\n #bytes\n#, usec\n 2 1000 2.71\n";

  it("are read in any encoding, without their lists of single latencies", async () => {
    const bytes = new Uint8Array([0xff, 0xfe, ...[...text].flatMap((char) => [char.charCodeAt(0), 0])]);
    expect(await textOfLog(new Blob([text]))).toBe(kept);
    expect(await textOfLog(new Blob([bytes]))).toBe(kept);
    expect(await textOfLog(new Blob([gzipSync(text)]))).toBe(kept);
  });

  it("are refused where the server would not take them", () => {
    expect(tooMuch([{ name: "a.log", text: kept }])).toBeUndefined();
    expect(tooMuch(Array.from({ length: 201 }, () => ({ name: "a.log", text: "" })))).toContain("201 files");
  });
});

describe("numbers of masks", () => {
  it("are read from a file's name only when all four are there", () => {
    expect(nameTellsMasks("cen_20_cde_100_sen_80_sde_80_send_bw_pod.log")).toBe(true);
    expect(nameTellsMasks("cen_20_cde_100_send_bw.log")).toBe(false);
    expect(nameTellsMasks("cen_1_cen_2_cde_0_sen_0_sde_0.log")).toBe(false);
  });

  it("are read from what is typed", () => {
    expect(masksOfText("cen=20,cde=0,sen=0,sde=60")).toEqual({ cen: 20, cde: 0, sen: 0, sde: 60 });
    expect(masksOfText("20, 60")).toBeNull();
    expect(masksOfText("ql_10_qr_2.5_send_bw.log")).toEqual({ ql: 10, qr: 2.5 });
    expect(masksOfText("ql=10")).toBeNull();
  });

  it("mean that a packet looks up half of them on average, and none with one mask", () => {
    expect([queriesOf(1), queriesOf(21), queriesOf(0)]).toEqual([0, 10, 0]);
  });
});

describe("what a profile says", () => {
  it("has its interval and its unit", () => {
    expect(estimateText({ value: 121.4, lower: 110.4, upper: 132.4 }, "Gbit/s")).toBe("121 (110 to 132) Gbit/s");
  });

  it("is for all drivers and firmware unless it names one", () => {
    expect(scopeText({ driver: "", fw_ver: "" })).toBe("all drivers and firmware");
    expect(scopeText({ driver: "", fw_ver: "20.35" })).toBe("firmware 20.35");
  });

  it("distinguishes an RNIC at its limit from one whose traffic needs no more, and from a profile that is too low", () => {
    expect(verdictOf(performance).tone).toBe("good");
    expect(verdictOf({ ...performance, full: true }).text).toContain("RNIC is the limit");
    expect(verdictOf({ ...performance, full: true, above: true }).text).toContain("too low");
    expect(verdictOf({ ...performance, measured_gbps: null, at: null }).text).toContain("No measurements");
    expect(verdictOf({ ...performance, measured_gbps: null, minutes: 1 })).toEqual({
      tone: "quiet",
      text: "No verdict: it needs three minutes with both values, and there is 1.",
    });
  });

  it("puts each RNIC where its lookups are", () => {
    const rnic = {
      host: "h",
      pci: "p",
      at: "",
      q_l: 3,
      q_r: 4,
      q_r_basis: "peers" as const,
      expected_gbps: 100,
      expected_us: 3,
      measured_gbps: null,
    };
    expect(placed([rnic])).toEqual([{ label: "h p", qL: 3, qR: 4, note: "expected 100 Gbit/s, measured –" }]);
  });
});

describe("residuals", () => {
  it("are drawn for the fit and for the profile before it", () => {
    const theme: ChartTheme = {
      text: "",
      dim: "",
      line: "",
      panel: "",
      shade: "",
      bad: "",
      accent: "",
      series: ["#1", "#2"],
    };
    const { series } = residualsToOption([{ label: "a", at: 10, fitted: 0.01, current: -0.2 }], theme) as unknown as {
      series: { data: unknown[] }[];
    };
    expect(series.map(({ data }) => data[0])).toEqual([
      [10, -0.2, "a"],
      [10, 0.01, "a"],
    ]);
  });
});
