import { describe, expect, it } from "vitest";
import { toColumns } from "@/testing/columns";
import { quietText, summarise } from "./summary";

const staleAfterMs = 45_000;
const PCI = ["0000:3b:00.0", "0000:5e:00.0", "0000:86:00.0"];

describe("the RNICs that need attention", () => {
  it("name a host once when the symptom is the host's, and keep room for others", () => {
    const columns = toColumns([
      ...PCI.map((pci) => ({ host: "host01", pci, symptoms: ["silent"] })),
      { host: "host02", symptoms: ["S1"] },
      { host: "host03", pci: PCI[0], symptoms: ["S1"] },
      { host: "host03", pci: PCI[1], symptoms: ["S1"] },
    ]);
    const summary = summarise({ columns, staleAfterMs }, [0, 1, 2, 3, 4, 5], 1000);
    expect(summary.needAttention).toBe(6);
    expect(summary.sickest).toEqual([0, 3, 4, 5]);
    expect(summary.sharing.get(0)).toBe(2);
  });

  it("are not those whose symptom is over; they are counted apart", () => {
    const columns = toColumns([
      { host: "host01", recent: ["S7"] },
      { host: "host02", symptoms: ["S6"], recent: ["S1"] },
    ]);
    const summary = summarise({ columns, staleAfterMs }, [0, 1], 1000);
    expect([summary.needAttention, summary.recent]).toEqual([1, 1]);
  });

  it("have their symptoms counted by number, the others after them", () => {
    const columns = toColumns([
      { host: "a", symptoms: ["unexplained", "S6"] },
      { host: "b", symptoms: ["silent", "S1"] },
    ]);
    const summary = summarise({ columns, staleAfterMs }, [0, 1], 1000);
    expect(summary.symptoms.map(([symptom]) => symptom)).toEqual(["S1", "S6", "silent", "unexplained"]);
  });
});

describe("a fleet without anything that needs attention", () => {
  const of = (total: number, unknown: number) =>
    quietText({ total, bands: { unknown, low: total - unknown, moderate: 0, high: 0, near: 0, beyond: 0 } });

  it("is called healthy only where the limits are known", () => {
    expect(of(2, 0)).toBe("All RNICs healthy: no symptoms, none near its limit");
    expect(of(9, 2)).toBe("No symptoms, none near its limit. The limits of 2 RNICs are unknown");
    expect(of(2, 2)).toBe("No symptoms. How close the RNICs are to their limits is unknown");
  });
});
