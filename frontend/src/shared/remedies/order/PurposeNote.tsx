import { Group, Text } from "@mantine/core";
import { SymptomBadge } from "@/lib/ui/SymptomBadge";
import type { Purpose } from "./purpose";

/** Says with which incident the order is recorded, so that no one wonders later why it was given. */
export function PurposeNote({ purpose }: { purpose: Purpose | null }) {
  if (!purpose) {
    return (
      <Text size="sm" c="dimmed">
        Recorded with the RNIC only: no open incident suggests it.
      </Text>
    );
  }
  const { incident, suggestion } = purpose;
  return (
    <Group gap={6} wrap="nowrap" align="flex-start">
      <Text size="sm" style={{ flex: "none" }}>
        For incident
      </Text>
      <SymptomBadge symptom={incident.symptom} />
      <Text size="sm">
        {incident.title}
        {suggestion ? (suggestion.why ? `: ${suggestion.why}` : "") : ", which does not suggest it"}
      </Text>
    </Group>
  );
}
