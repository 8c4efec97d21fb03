import { Table, UnstyledButton } from "@mantine/core";
import {
  type ColumnDef,
  flexRender,
  functionalUpdate,
  getCoreRowModel,
  getSortedRowModel,
  type SortingState,
  type Updater,
  useReactTable,
} from "@tanstack/react-table";
import { useState } from "react";
import { asCards } from "./cards";
import classes from "./DataTable.module.css";

interface Props<T> {
  label: string;
  data: readonly T[];
  // TanStack's own signature: a column's value type differs from column to column and only `any` unites them.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  columns: ColumnDef<T, any>[];
  /** The order, where it is kept elsewhere (in the URL); otherwise the table keeps it. */
  sorting?: SortingState;
  onSorting?: (sorting: SortingState) => void;
  /** The head stays while the rows scroll. */
  sticky?: boolean;
}

const ARROWS: Readonly<Record<string, string>> = { asc: " ▲", desc: " ▼" };
const ARIA = { asc: "ascending", desc: "descending" } as const;

/** A sortable table; the order that the API gave stands until a header is pressed. */
export function DataTable<T>({ label, data, columns, sorting: given, onSorting, sticky = false }: Props<T>) {
  const [own, setOwn] = useState<SortingState>([]);
  const sorting = given ?? own;
  const onSortingChange = (change: Updater<SortingState>) => (onSorting ?? setOwn)(functionalUpdate(change, sorting));
  const table = useReactTable({
    data: data as T[],
    columns,
    state: { sorting },
    onSortingChange,
    getCoreRowModel: getCoreRowModel(),
    getSortedRowModel: getSortedRowModel(),
  });
  const cards = asCards(
    table
      .getFlatHeaders()
      .map(({ column }) => (typeof column.columnDef.header === "string" ? column.columnDef.header : "")),
  );
  return (
    <Table
      highlightOnHover
      stickyHeader={sticky}
      aria-label={label}
      className={`${classes["table"] ?? ""} ${cards.className ?? ""}`}
      style={cards.style}
    >
      <Table.Thead>
        {table.getHeaderGroups().map((group) => (
          <Table.Tr key={group.id}>
            {group.headers.map((header) => {
              const sorted = header.column.getIsSorted();
              const title = flexRender(header.column.columnDef.header, header.getContext());
              return (
                <Table.Th key={header.id} aria-sort={sorted ? ARIA[sorted] : undefined}>
                  {header.column.getCanSort() ? (
                    <UnstyledButton className={classes["sort"]} onClick={header.column.getToggleSortingHandler()}>
                      {title}
                      <span aria-hidden="true">{sorted ? ARROWS[sorted] : ""}</span>
                    </UnstyledButton>
                  ) : (
                    title
                  )}
                </Table.Th>
              );
            })}
          </Table.Tr>
        ))}
      </Table.Thead>
      <Table.Tbody>
        {table.getRowModel().rows.map((row) => (
          <Table.Tr key={row.id}>
            {row.getVisibleCells().map((cell) => (
              <Table.Td key={cell.id}>{flexRender(cell.column.columnDef.cell, cell.getContext())}</Table.Td>
            ))}
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
