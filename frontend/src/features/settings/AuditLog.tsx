import { Button, Code, Group, Table, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useState } from "react";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { EmptyState } from "@/lib/ui/EmptyState";
import { Panel } from "@/lib/ui/Panel";
import { QueryState } from "@/lib/ui/QueryState";
import { StatusMark, type Tone } from "@/lib/ui/StatusMark";
import { useAudit } from "./queries";

const TONES: Readonly<Record<string, Tone>> = { ok: "good", refused: "warn", failed: "bad" };
const TYPING_MS = 300;

/** Who did what to what, newest first. */
export function AuditLog() {
  const [actor, setActor] = useState("");
  const [action, setAction] = useState("");
  const [filter] = useDebouncedValue({ actor: actor.trim() || undefined, action: action.trim() || undefined }, TYPING_MS);
  const audit = useAudit(filter);
  const { time } = useTimeFormat();
  return (
    <Panel
      title="Audit log"
      flush
      actions={
        <Group gap={6}>
          <TextInput data-focus-filter aria-label="Filter by actor" placeholder="actor" w={140} value={actor} onChange={(event) => setActor(event.currentTarget.value)} />
          <TextInput aria-label="Filter by action" placeholder="action, such as remedy." w={180} value={action} onChange={(event) => setAction(event.currentTarget.value)} />
        </Group>
      }
    >
      <div style={{ padding: audit.data ? 0 : 12 }}>
        <QueryState query={audit} lines={8} isEmpty={(data) => data.pages.every((page) => page.items.length === 0)} empty={<EmptyState title="Nothing matches">Sign-ins, remedies and every change of settings are written here.</EmptyState>}>
          {(data) => (
            <Table aria-label="Audit log">
              <Table.Thead>
                <Table.Tr>
                  {["When", "Who", "What", "To what", "Outcome", "From", "Detail"].map((title) => (
                    <Table.Th key={title}>{title}</Table.Th>
                  ))}
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {data.pages
                  .flatMap((page) => page.items)
                  .map((event) => (
                    <Table.Tr key={event.id}>
                      <Table.Td style={{ whiteSpace: "nowrap" }}>{time(event.at)}</Table.Td>
                      <Table.Td>{event.actor}</Table.Td>
                      <Table.Td>{event.action}</Table.Td>
                      <Table.Td>{event.target}</Table.Td>
                      <Table.Td>
                        <StatusMark tone={TONES[event.outcome] ?? "quiet"}>{event.outcome}</StatusMark>
                      </Table.Td>
                      <Table.Td>{event.address ?? "–"}</Table.Td>
                      <Table.Td>{Object.keys(event.detail).length > 0 ? <Code style={{ overflowWrap: "anywhere" }}>{JSON.stringify(event.detail)}</Code> : ""}</Table.Td>
                    </Table.Tr>
                  ))}
              </Table.Tbody>
            </Table>
          )}
        </QueryState>
        {audit.hasNextPage && (
          <Group justify="center" p={8}>
            <Button variant="default" loading={audit.isFetchingNextPage} onClick={() => void audit.fetchNextPage()}>
              Show older entries
            </Button>
          </Group>
        )}
      </div>
    </Panel>
  );
}
