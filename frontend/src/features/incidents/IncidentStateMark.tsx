import type { IncidentSummary } from "@/lib/api/types";
import { StatusMark } from "@/lib/ui/StatusMark";

/** The state in a word; an open one is loud, a critical one louder. */
export function IncidentStateMark({ incident }: { incident: Pick<IncidentSummary, "state" | "severity"> }) {
  if (incident.state === "resolved") return <StatusMark tone="good">Resolved</StatusMark>;
  if (incident.state === "acknowledged") return <StatusMark tone="warn">Acknowledged</StatusMark>;
  return <StatusMark tone={incident.severity === "critical" ? "bad" : "warn"}>Open</StatusMark>;
}
