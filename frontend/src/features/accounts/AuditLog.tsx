import { Code, Group, Table, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useState } from "react";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { EmptyState } from "@/lib/ui/EmptyState";
import { HeadedTable } from "@/lib/ui/HeadedTable";
import { ListPanel } from "@/lib/ui/ListPanel";
import { StatusMark, type Tone } from "@/lib/ui/StatusMark";
import { useAudit } from "./queries";

const TONES: Readonly<Record<string, Tone>> = { ok: "good", refused: "warn", failed: "bad" };
const TYPING_MS = 300;

/** Who did what to what, newest first. */
export function AuditLog() {
  const [actor, setActor] = useState("");
  const [action, setAction] = useState("");
  const [filter] = useDebouncedValue(
    { actor: actor.trim() || undefined, action: action.trim() || undefined },
    TYPING_MS,
  );
  const audit = useAudit(filter);
  const { time } = useTimeFormat();
  const filtered = Boolean(filter.actor ?? filter.action);
  return (
    <ListPanel
      title="Audit log"
      pages={audit}
      empty={
        <EmptyState title={filtered ? "No entry matches these filters" : "No audit entries yet"}>
          {filtered
            ? "The actor must match exactly; an action exactly or by prefix."
            : "Sign-ins, remedies and every change of settings are recorded here."}
        </EmptyState>
      }
      moreLabel="Show older entries"
      actions={
        <Group gap={6}>
          <TextInput
            data-focus-filter
            aria-label="Filter by actor"
            placeholder="actor (exact match)"
            w={140}
            value={actor}
            onChange={(event) => setActor(event.currentTarget.value)}
          />
          <TextInput
            aria-label="Filter by action"
            placeholder="action, such as remedy."
            w={180}
            value={action}
            onChange={(event) => setAction(event.currentTarget.value)}
          />
        </Group>
      }
    >
      {(items) => (
        <HeadedTable label="Audit log" titles={["When", "Who", "What", "Target", "Outcome", "From", "Detail"]}>
          {items.map((event) => (
            <Table.Tr key={event.id}>
              <Table.Td style={{ whiteSpace: "nowrap" }}>{time(event.at)}</Table.Td>
              <Table.Td>{event.actor}</Table.Td>
              <Table.Td>{event.action}</Table.Td>
              <Table.Td>{event.target}</Table.Td>
              <Table.Td>
                <StatusMark tone={TONES[event.outcome] ?? "quiet"}>{event.outcome}</StatusMark>
              </Table.Td>
              <Table.Td>{event.address ?? "–"}</Table.Td>
              <Table.Td>
                {Object.keys(event.detail).length > 0 ? (
                  <Code style={{ overflowWrap: "anywhere" }}>{JSON.stringify(event.detail)}</Code>
                ) : (
                  ""
                )}
              </Table.Td>
            </Table.Tr>
          ))}
        </HeadedTable>
      )}
    </ListPanel>
  );
}
