import { Button, Group, Table, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { Silence } from "@/lib/api/types";
import { formatDuration } from "@/lib/time/format";
import { useNow } from "@/lib/time/useNow";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { ConfirmButton } from "@/lib/ui/ConfirmButton";
import { HeadedTable } from "@/lib/ui/HeadedTable";
import { StatusMark, type Tone } from "@/lib/ui/StatusMark";
import { matchersText } from "@/shared/matchers/matchers";

const TONES: Readonly<Record<Silence["state"], Tone>> = { active: "warn", pending: "quiet", expired: "quiet" };

function restText(silence: Silence, now: number): string {
  if (silence.state === "pending") return `starts in ${formatDuration(Date.parse(silence.starts_at) - now)}`;
  if (silence.state === "active") return `${formatDuration(Date.parse(silence.ends_at) - now)} left`;
  return `ended ${formatDuration(now - Date.parse(silence.ends_at))} ago`;
}

interface Props {
  silences: readonly Silence[];
  onEdit: (silence: Silence) => void;
  onAgain: (silence: Silence) => void;
  onEnd: (id: string) => void;
}

export function SilenceTable({ silences, onEdit, onAgain, onEnd }: Props) {
  const { time } = useTimeFormat();
  const now = useNow();
  return (
    <HeadedTable
      label="Silences"
      titles={["State", "Kind", "Matches", "From", "To", "Suppresses", "Reason", "By", "Actions"]}
    >
      {silences.map((silence) => (
        <Table.Tr key={silence.id} data-silence={silence.id} data-state={silence.state}>
          <Table.Td style={{ whiteSpace: "nowrap" }}>
            <StatusMark tone={TONES[silence.state]}>{silence.state}</StatusMark>
            <Text size="xs" c="dimmed">
              {restText(silence, now)}
            </Text>
          </Table.Td>
          <Table.Td>{silence.kind}</Table.Td>
          <Table.Td maw={340} style={{ overflowWrap: "anywhere" }}>
            {matchersText(silence.matchers)}
          </Table.Td>
          <Table.Td style={{ whiteSpace: "nowrap" }}>{time(silence.starts_at)}</Table.Td>
          <Table.Td style={{ whiteSpace: "nowrap" }}>{time(silence.ends_at)}</Table.Td>
          <Table.Td style={{ whiteSpace: "nowrap" }}>
            {silence.incidents > 0 ? (
              <Link to="/incidents" search={{ state: "suppressed", suppressed_by: silence.id }}>
                {silence.incidents.toLocaleString("en")} now
              </Link>
            ) : (
              "none"
            )}
          </Table.Td>
          <Table.Td maw={260} style={{ overflowWrap: "anywhere" }}>
            {silence.reason}
          </Table.Td>
          <Table.Td>{silence.created_by}</Table.Td>
          <Table.Td>
            <Group gap={6} wrap="nowrap">
              {silence.state === "expired" ? (
                <Button size="compact-xs" variant="default" onClick={() => onAgain(silence)}>
                  Recreate…
                </Button>
              ) : (
                <>
                  <Button size="compact-xs" variant="default" onClick={() => onEdit(silence)}>
                    Edit…
                  </Button>
                  <ConfirmButton
                    label={silence.state === "pending" ? "Cancel…" : "End now"}
                    question={
                      silence.state === "pending"
                        ? "It will not start."
                        : `Suppressed incidents (${silence.incidents} now) open again and notifications are sent.`
                    }
                    confirm={silence.state === "pending" ? "Cancel silence" : "End it now"}
                    onConfirm={() => onEnd(silence.id)}
                  />
                </>
              )}
            </Group>
          </Table.Td>
        </Table.Tr>
      ))}
    </HeadedTable>
  );
}
