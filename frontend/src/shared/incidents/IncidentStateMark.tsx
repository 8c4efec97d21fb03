import type { IncidentSummary } from "@/lib/api/types";
import { useStates } from "@/lib/api/useStates";
import { needsAttention, stateOf } from "@/lib/states";
import { OUTCOME_TONES } from "@/lib/ui/StateMark";
import { StatusMark } from "@/lib/ui/StatusMark";

/** The state in a word; one that needs attention is loud, and louder when it is critical. */
export function IncidentStateMark({ incident }: { incident: Pick<IncidentSummary, "state" | "severity"> }) {
  const state = stateOf(useStates("incident"), incident.state);
  const isWarning = needsAttention(state) && incident.severity !== "critical";
  return <StatusMark tone={isWarning ? "warn" : OUTCOME_TONES[state.outcome]}>{state.label}</StatusMark>;
}
