import { Table } from "@mantine/core";
import type { ReactNode } from "react";
import { asCards } from "./cards";

/** A plain table: its name, its columns' titles, and rows as children. */
export function HeadedTable({
  label,
  titles,
  bordered = false,
  children,
}: {
  label: string;
  titles: readonly string[];
  bordered?: boolean;
  children: ReactNode;
}) {
  return (
    <Table aria-label={label} withTableBorder={bordered} {...asCards(titles)}>
      <Table.Thead>
        <Table.Tr>
          {titles.map((title) => (
            <Table.Th key={title}>{title}</Table.Th>
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>{children}</Table.Tbody>
    </Table>
  );
}
