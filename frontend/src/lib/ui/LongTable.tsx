import { Table } from "@mantine/core";
import type { ReactNode, Ref } from "react";
import { asCards } from "./cards";
import classes from "./LongTable.module.css";
import { SortHeader } from "./SortHeader";
import { useVirtualRows } from "./useVirtualRows";

export interface LongColumn<Sort extends string> {
  title: string;
  /** In px or percent; a column without one takes what is left. */
  width?: number | string;
  /** The order that its header asks for, and which way that goes. */
  sort?: { by: Sort; way: "ascending" | "descending" };
}

export interface DrawnRow {
  ref: Ref<HTMLTableRowElement>;
  "data-index": number;
  "aria-rowindex": number;
}

interface Props<T, Sort extends string> {
  label: string;
  columns: readonly LongColumn<Sort>[];
  items: readonly T[];
  keyOf: (item: T) => string;
  rowPx: number;
  minWidth: number;
  sorted: Sort;
  onSort: (by: Sort) => void;
  /** The reader nears the end of the rows. */
  onNearEnd: () => void;
  row: (item: T, drawn: DrawnRow) => ReactNode;
}

/** A table as long as the fleet: rows in sight alone are drawn, its head stays, and the order is the server's. */
export function LongTable<T, Sort extends string>({
  label,
  columns,
  items,
  keyOf,
  rowPx,
  minWidth,
  sorted,
  onSort,
  onNearEnd,
  row,
}: Props<T, Sort>) {
  const { tableRef, measure, rows } = useVirtualRows({
    count: items.length,
    estimate: rowPx,
    keyOf: (index) => (items[index] === undefined ? String(index) : keyOf(items[index])),
    keep: null,
    onNearEnd,
  });
  const cards = asCards(columns.map(({ title }) => title));
  return (
    <Table
      ref={tableRef}
      aria-label={label}
      aria-rowcount={-1}
      highlightOnHover
      className={`${classes["table"] ?? ""} ${cards.className ?? ""}`}
      style={{ ...cards.style, minWidth }}
    >
      <Table.Thead>
        <Table.Tr aria-rowindex={1}>
          {columns.map(({ title, width, sort }) => (
            <SortHeader
              key={title}
              title={title}
              width={width}
              way={sort?.by === sorted ? sort.way : null}
              onSort={sort && (() => onSort(sort.by))}
            />
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {rows.map((place, i) => {
          if (typeof place === "number")
            return (
              <tr key={`gap${i}`} aria-hidden="true" className={classes["gap"]}>
                <td colSpan={columns.length} style={{ height: place }} />
              </tr>
            );
          const item = items[place.index];
          return item === undefined
            ? null
            : row(item, { ref: measure, "data-index": place.index, "aria-rowindex": place.index + 2 });
        })}
      </Table.Tbody>
    </Table>
  );
}
