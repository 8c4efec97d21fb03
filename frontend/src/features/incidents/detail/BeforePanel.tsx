import { Table, Text } from "@mantine/core";
import { useMemo } from "react";
import type { Before, Incident } from "@/lib/api/types";
import { formatDuration } from "@/lib/time/format";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { EmptyState } from "@/lib/ui/EmptyState";
import { HeadedTable } from "@/lib/ui/HeadedTable";
import { Panel } from "@/lib/ui/Panel";
import { QueryState } from "@/lib/ui/QueryState";
import { useBefore } from "../queries";
import { type ChangeLine, linesOf } from "./changes";

/** `−2 min 10 s`: how long before the beginning. */
export function beforeText(at: string, beginning: string): string {
  return `−${formatDuration(Date.parse(beginning) - Date.parse(at))}`;
}

/** `−2 min 10 s`, or `−1 min 40 s to −10 s` of several. */
function spanText({ from, to }: Pick<ChangeLine, "from" | "to">, beginning: string): string {
  const [first, last] = [beforeText(from, beginning), beforeText(to, beginning)];
  return first === last ? first : `${first} to ${last}`;
}

function Changes({ before, here }: { before: Before; here: { host: string; pci: string } }) {
  const { time } = useTimeFormat();
  const lines = useMemo(() => linesOf(before.items, here), [before.items, here]);
  return (
    <HeadedTable label="Recent changes" titles={["Before", "Kind", "Where", "Change"]}>
      {lines.map((change, i) => (
        <Table.Tr key={`${change.to}${i}`}>
          <Table.Td title={time(change.to)} style={{ whiteSpace: "nowrap" }}>
            {spanText(change, before.to)}
          </Table.Td>
          <Table.Td>{change.kind}</Table.Td>
          <Table.Td>
            {change.host}{" "}
            <Text span size="xs" c="dimmed" ff="monospace">
              {change.pci}
            </Text>
          </Table.Td>
          <Table.Td style={{ overflowWrap: "anywhere" }}>{change.text}</Table.Td>
        </Table.Tr>
      ))}
    </HeadedTable>
  );
}

/** The incident's own RNIC first, newest first: events, containers, settings, firmware and remedies of the quarter of an hour before it began. */
export function BeforePanel({ incident }: { incident: Pick<Incident, "id" | "host" | "pci"> }) {
  const { id, host, pci } = incident;
  const before = useBefore(id);
  const here = useMemo(() => ({ host, pci }), [host, pci]);
  return (
    <Panel
      title="Recent changes"
      aside={
        <Text size="xs" c="dimmed">
          {before.data
            ? `in the ${formatDuration(Date.parse(before.data.to) - Date.parse(before.data.from))} before it began`
            : ""}
        </Text>
      }
      flush
    >
      <div style={{ padding: before.data ? 0 : 12 }}>
        <QueryState
          query={before}
          lines={3}
          isEmpty={(data) => data.items.length === 0}
          empty={
            <EmptyState title="No changes recorded">
              No events, containers, settings, firmware or remedies in that time.
            </EmptyState>
          }
        >
          {(data) => (
            <>
              <Changes before={data} here={here} />
              {data.truncated && (
                <Text size="xs" c="dimmed" p={8}>
                  Truncated: the earliest changes are not shown.
                </Text>
              )}
            </>
          )}
        </QueryState>
      </div>
    </Panel>
  );
}
