import { Table, Text } from "@mantine/core";
import type { Before } from "@/lib/api/types";
import { formatDuration } from "@/lib/time/format";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { EmptyState } from "@/lib/ui/EmptyState";
import { HeadedTable } from "@/lib/ui/HeadedTable";
import { Panel } from "@/lib/ui/Panel";
import { QueryState } from "@/lib/ui/QueryState";
import { useBefore } from "../queries";

/** `−2 min 10 s`: how long before the beginning. */
export function beforeText(at: string, beginning: string): string {
  return `−${formatDuration(Date.parse(beginning) - Date.parse(at))}`;
}

function Changes({ before }: { before: Before }) {
  const { time } = useTimeFormat();
  return (
    <HeadedTable label="Recent changes" titles={["Before", "Kind", "Where", "Change"]}>
      {before.items.map((change, i) => (
        <Table.Tr key={`${change.at}${i}`}>
          <Table.Td title={time(change.at)} style={{ whiteSpace: "nowrap" }}>
            {beforeText(change.at, before.to)}
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

/** Events, containers, settings, firmware and remedies of the quarter of an hour before it began. */
export function BeforePanel({ id }: { id: string }) {
  const before = useBefore(id);
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
              <Changes before={data} />
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
