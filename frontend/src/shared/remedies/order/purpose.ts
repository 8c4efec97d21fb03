import type { Incident, SuggestedRemedy } from "@/lib/api/types";

/** What a remedy is for: an incident, and what that suggests for the action, if it does. */
export interface Purpose {
  incident: Pick<Incident, "id" | "symptom" | "title">;
  suggestion?: SuggestedRemedy;
}

export type PurposeFor = (action: string) => Purpose | null;

/** The first of the incidents that suggests the action. */
export function purposeOf(
  action: string,
  incidents: readonly (Purpose["incident"] & Pick<Incident, "remedies">)[],
): Purpose | null {
  for (const incident of incidents) {
    const suggestion = incident.remedies.find((each) => each.action === action);
    if (suggestion) return { incident, suggestion };
  }
  return null;
}
