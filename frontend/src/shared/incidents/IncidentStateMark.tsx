import type { IncidentSummary } from "@/lib/api/types";
import { StatusMark, type Tone } from "@/lib/ui/StatusMark";
import { stateLabel } from "./states";

/** The state in a word; an open one is loud, a critical one louder. */
export function IncidentStateMark({ incident }: { incident: Pick<IncidentSummary, "state" | "severity"> }) {
  const loud: Tone = incident.severity === "critical" ? "bad" : "warn";
  const tones: Record<IncidentSummary["state"], Tone> = {
    open: loud,
    reopened: loud,
    acknowledged: "warn",
    suppressed: "quiet",
    resolved: "good",
  };
  return <StatusMark tone={tones[incident.state]}>{stateLabel(incident.state)}</StatusMark>;
}
