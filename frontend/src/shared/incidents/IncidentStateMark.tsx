import type { IncidentSummary } from "@/lib/api/types";
import { useStates } from "@/lib/api/useStates";
import { needsAttention, stateOf } from "@/lib/states";
import { StateMark } from "@/lib/ui/StateMark";

/** The state in a word; one that needs attention is loud, and louder when it is critical. */
export function IncidentStateMark({ incident }: { incident: Pick<IncidentSummary, "state" | "severity"> }) {
  const loud = needsAttention(stateOf(useStates("incident"), incident.state));
  return (
    <StateMark
      machine="incident"
      state={incident.state}
      {...(loud && incident.severity !== "critical" ? { tone: "warn" } : {})}
    />
  );
}
