import { Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { Remedy } from "@/lib/api/types";
import { plural } from "@/lib/format";

/** State of the findings that a remedy caused, such as `1 lasts, 2 have cleared, 1 outlasted it and was raised`. */
export function fateText(inhibited: Remedy["inhibited"]): string {
  const raised = inhibited.filter((finding) => !finding.inhibited).length;
  const held = inhibited.filter((finding) => finding.inhibited);
  const ended = held.filter((finding) => finding.cleared_at !== null).length;
  const lasting = held.length - ended;
  return [
    lasting > 0 && plural(lasting, "lasts", "last"),
    ended > 0 && plural(ended, "has cleared", "have cleared"),
    raised > 0 && `${plural(raised, "outlasted it and was raised", "outlasted it and were raised")}`,
  ]
    .filter(Boolean)
    .join(", ");
}

/** What began while the remedy ran, as its own doing; nothing where nothing did. */
export function InhibitedFindings({ remedy }: { remedy: Remedy }) {
  if (remedy.inhibited.length === 0) return null;
  const symptoms = [...new Set(remedy.inhibited.map(({ symptom }) => symptom))].sort().join(", ");
  return (
    <Text size="sm" role="note">
      ∅{" "}
      <Link to="/incidents" search={{ state: "all", inhibited_by: remedy.id }}>
        {plural(remedy.inhibited.length, "finding")}
      </Link>{" "}
      ({symptoms}) started while it or its undo ran and are attributed to it: inhibited, no notification sent.{" "}
      {fateText(remedy.inhibited)}.
    </Text>
  );
}
