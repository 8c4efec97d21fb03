import { Text } from "@mantine/core";
import { RemedyLink } from "@/features/remedies/RemedyLink";
import { useActions, useRemedy } from "@/features/remedies/queries";
import type { Incident } from "@/lib/api/types";
import { formatDuration } from "@/lib/time/format";

/** Which remedy of one's own has brought this about, and when somebody hears of it; or that it has outlasted the remedy. */
export function InhibitedNote({ incident }: { incident: Incident }) {
  const lead = incident.findings.find((finding) => finding.finding_id === incident.finding_id);
  const id = incident.inhibited_by ?? lead?.inhibited_by ?? null;
  const actions = useActions().data;
  const action = useRemedy(id).data?.action;
  const settles = actions?.find((each) => each.action === action)?.disturbs?.settle_s;
  if (id === null) return null;
  if (incident.inhibited_by === null) {
    return (
      <Text size="sm" mt={6} role="note">
        It began while a remedy ran (<RemedyLink id={id} />), outlasted it, and counts since then.
      </Text>
    );
  }
  return (
    <Text size="sm" mt={6} role="note">
      ∅ Inhibited: it began while a remedy ran or settled that may bring it about (<RemedyLink id={id} />).{" "}
      {incident.active ? `Nobody is notified, and no rule acts on it, unless it outlasts the remedy${settles === undefined ? "" : ` by ${formatDuration(settles * 1000)}`}.` : "It is over, and nobody was notified."}
    </Text>
  );
}
