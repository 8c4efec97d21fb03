import { Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { Incident } from "@/lib/api/types";
import { formatDuration } from "@/lib/time/format";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { matchersText } from "@/shared/matchers/matchers";
import { useActions, useRemedy } from "@/shared/remedies/queries";
import { RemedyLink } from "@/shared/remedies/RemedyLink";
import { useSilence } from "../silences/queries";

/** Which remedy caused this, and when a notification follows; or that it has outlasted the remedy. */
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
        It started while a remedy ran (<RemedyLink id={id} />) and outlasted it, so it is no longer inhibited.
      </Text>
    );
  }
  const by = settles === undefined ? "" : ` by ${formatDuration(settles * 1000)}`;
  return (
    <Text size="sm" mt={6} role="note">
      ∅ Inhibited: likely a side effect of a remedy: <RemedyLink id={id} />.{" "}
      {incident.active
        ? `No notification is sent and no rule acts on it, unless it outlasts the remedy${by}.`
        : "It has cleared; no notification was sent."}
    </Text>
  );
}

/** Why no notification is sent, until when, and who silenced it. */
export function SilenceNote({ id }: { id: string }) {
  const silence = useSilence(id).data;
  const { time } = useTimeFormat();
  return (
    <Text size="sm" mt={6} role="note">
      ∅ Suppressed by a <Link to="/silences">{silence?.kind === "maintenance" ? "maintenance window" : "silence"}</Link>
      {silence
        ? ` of ${silence.created_by} until ${time(silence.ends_at)}: “${silence.reason}” (${matchersText(silence.matchers)})`
        : ""}
    </Text>
  );
}
