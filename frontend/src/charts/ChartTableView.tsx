import { Table, Text } from "@mantine/core";
import { formatNumber } from "@/lib/format";
import type { ChartTable } from "./table";

/** The numbers behind a chart. */
export function ChartTableView({ title, table }: { title: string; table: ChartTable }) {
  if (table.rows.length === 0)
    return (
      <Text size="sm" c="dimmed">
        There is no data to show.
      </Text>
    );
  return (
    <div style={{ maxHeight: "70vh", overflow: "auto" }} tabIndex={0} role="group" aria-label={`Data of ${title}`}>
      <Table stickyHeader aria-label={title}>
        <Table.Thead>
          <Table.Tr>
            {table.columns.map((column, i) => (
              <Table.Th key={column} ta={i === 0 ? undefined : "right"}>
                {column}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {table.rows.map((row, i) => (
            <Table.Tr key={i}>
              {row.map((value, column) => (
                <Table.Td key={column} ta={column === 0 ? undefined : "right"} style={{ whiteSpace: "nowrap" }}>
                  {typeof value === "string" ? value : formatNumber(value)}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  );
}
