import { Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { matchersText } from "@/features/silences/matchers";
import { useSilence } from "@/features/silences/queries";
import { useTimeFormat } from "@/lib/time/ZoneContext";

/** Why nobody is notified of this, until when, and by whose order. */
export function SilenceNote({ id }: { id: string }) {
  const silence = useSilence(id).data;
  const { time } = useTimeFormat();
  return (
    <Text size="sm" mt={6} role="note">
      ∅ Suppressed by a <Link to="/silences">{silence?.kind === "maintenance" ? "maintenance window" : "silence"}</Link>
      {silence ? ` of ${silence.created_by} until ${time(silence.ends_at)}: “${silence.reason}” (${matchersText(silence.matchers)})` : ""}
    </Text>
  );
}
