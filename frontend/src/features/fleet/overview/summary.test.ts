import { describe, expect, it } from "vitest";
import { toColumns } from "@/testing/columns";
import { summarise } from "./summary";

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
