import type { Incident } from "@/lib/api/types";

/** What its findings suggest, the leading one's first, each action once: S5 before S1 must not hide what helps against S1. */
export function suggestionsOf(incident: Pick<Incident, "remedies" | "findings">): Incident["remedies"] {
  const others = incident.findings
    .filter((finding) => finding.state === "active" && !finding.inhibited)
    .flatMap((finding) => finding.remedies);
  return [...incident.remedies, ...others].filter(
    (each, i, all) => all.findIndex((first) => first.action === each.action) === i,
  );
}
