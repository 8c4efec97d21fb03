import { Table, Text } from "@mantine/core";
import type { Evidence } from "@/lib/api/types";
import { formatExpected } from "@/lib/format";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { EmptyState } from "@/lib/ui/EmptyState";
import { HeadedTable } from "@/lib/ui/HeadedTable";
import { evidenceValue } from "./evidenceText";

export function EvidenceTable({ evidence }: { evidence: readonly Evidence[] }) {
  const { clock } = useTimeFormat();
  if (evidence.length === 0)
    return <EmptyState title="No evidence stored">The finding that opened this incident has no signals.</EmptyState>;
  return (
    <HeadedTable label="Evidence" titles={["Signal", "Value", "Expected", "Interval", "Meaning"]}>
      {evidence.map((each, i) => (
        <Table.Tr key={`${each.signal}${i}`}>
          <Table.Td>{each.label}</Table.Td>
          <Table.Td fw={600} style={{ whiteSpace: "nowrap" }}>
            {evidenceValue(each)}
          </Table.Td>
          <Table.Td style={{ whiteSpace: "nowrap" }}>{formatExpected(each.expected, each.unit)}</Table.Td>
          <Table.Td style={{ whiteSpace: "nowrap" }}>
            <Text span size="xs" c="dimmed">
              {each.from && each.to ? `${clock(each.from)} – ${clock(each.to)}` : "–"}
            </Text>
          </Table.Td>
          <Table.Td>{each.text}</Table.Td>
        </Table.Tr>
      ))}
    </HeadedTable>
  );
}
