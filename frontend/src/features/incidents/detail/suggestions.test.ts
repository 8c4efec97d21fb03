import { describe, expect, it } from "vitest";
import type { Incident, IncidentFinding, SuggestedRemedy } from "@/lib/api/types";
import { suggestionsOf } from "./suggestions";

const remedy = (action: string, why: string): SuggestedRemedy => ({ action, params: {}, why });
const finding = (changes: Partial<IncidentFinding>) =>
  ({ state: "active", inhibited: false, remedies: [], ...changes }) as IncidentFinding;
const actions = (incident: Pick<Incident, "remedies" | "findings">) =>
  suggestionsOf(incident).map((each) => `${each.action} ${each.why}`);

describe("the remedies of an incident of several findings", () => {
  it("are the leading finding's first, then what the others add, each action once", () => {
    const incident = {
      remedies: [remedy("cordon-rnic", "S5")],
      findings: [
        finding({ remedies: [remedy("cordon-rnic", "S5")] }),
        finding({ remedies: [remedy("tune-revalidator", "S1"), remedy("cordon-rnic", "S1")] }),
      ],
    };
    expect(actions(incident)).toEqual(["cordon-rnic S5", "tune-revalidator S1"]);
  });

  it("leave out what ended findings and mere consequences suggest", () => {
    const gone = [
      finding({ state: "cleared", remedies: [remedy("a", "")] }),
      finding({ inhibited: true, remedies: [remedy("b", "")] }),
    ];
    expect(actions({ remedies: [], findings: gone })).toEqual([]);
  });
});
