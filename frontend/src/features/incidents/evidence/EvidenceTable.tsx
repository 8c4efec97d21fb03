import { Table, Text } from "@mantine/core";
import type { Evidence } from "@/lib/api/types";
import { formatExpected } from "@/lib/format";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { EmptyState } from "@/lib/ui/EmptyState";
import { evidenceValue } from "./evidenceText";

export function EvidenceTable({ evidence }: { evidence: readonly Evidence[] }) {
  const { clock } = useTimeFormat();
  if (evidence.length === 0)
    return <EmptyState title="No evidence stored">The finding that opened this incident has no signals.</EmptyState>;
  return (
    <Table aria-label="Evidence">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Signal</Table.Th>
          <Table.Th ta="right">Value</Table.Th>
          <Table.Th>Expected</Table.Th>
          <Table.Th>Interval</Table.Th>
          <Table.Th>Meaning</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {evidence.map((each, i) => (
          <Table.Tr key={`${each.signal}${i}`}>
            <Table.Td>{each.label}</Table.Td>
            <Table.Td ta="right" fw={600} style={{ whiteSpace: "nowrap" }}>
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
      </Table.Tbody>
    </Table>
  );
}
