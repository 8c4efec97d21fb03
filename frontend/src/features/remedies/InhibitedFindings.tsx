import { Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { Remedy } from "@/lib/api/types";
import { plural } from "@/lib/format";
import { fateText } from "./inhibited";

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
      ({symptoms}) began while it or its undo ran, as its own doing: inhibited, so nobody is notified. {fateText(remedy.inhibited)}.
    </Text>
  );
}
