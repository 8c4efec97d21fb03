import { Table, Text } from "@mantine/core";
import type { CauseInfo } from "@/lib/api/types";
import { formatShare } from "@/lib/format";
import { EmptyState } from "@/lib/ui/EmptyState";
import { HeadedTable } from "@/lib/ui/HeadedTable";

/** Causes that can show as the symptom, those first that explain most of it: prior times how often it shows so. */
export function causesOf(symptom: string, causes: readonly CauseInfo[]): { cause: CauseInfo; shows: number }[] {
  return causes
    .flatMap((cause) => {
      const shows = cause.explains[symptom];
      return shows === undefined ? [] : [{ cause, shows }];
    })
    .sort((a, b) => (b.cause.prior ?? 0) * b.shows - (a.cause.prior ?? 0) * a.shows);
}

export function CauseTable({ symptom, causes }: { symptom: string; causes: readonly CauseInfo[] }) {
  const rows = causesOf(symptom, causes);
  if (rows.length === 0) return <EmptyState title="No known cause" />;
  return (
    <HeadedTable label="Causes" titles={["Cause", "Prior", "Likelihood", "How to confirm"]}>
      {rows.map(({ cause, shows }) => (
        <Table.Tr key={cause.id}>
          <Table.Td>
            <b>{cause.id}</b> {cause.title}
            {cause.statement && (
              <Text size="xs" c="dimmed">
                {cause.statement}
              </Text>
            )}
          </Table.Td>
          <Table.Td style={{ whiteSpace: "nowrap" }}>{formatShare(cause.prior)}</Table.Td>
          <Table.Td style={{ whiteSpace: "nowrap" }}>{formatShare(shows)}</Table.Td>
          <Table.Td>
            {cause.next_test}
            {cause.settled_by_upgrade && (
              <Text size="xs" c="dimmed">
                Fixed by vendors: upgrade the driver or firmware.
              </Text>
            )}
          </Table.Td>
        </Table.Tr>
      ))}
    </HeadedTable>
  );
}
