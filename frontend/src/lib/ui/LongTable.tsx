import { Table, UnstyledButton } from "@mantine/core";
import { useEffect, type ReactNode, type Ref } from "react";
import classes from "./LongTable.module.css";
import { useVirtualRows } from "./useVirtualRows";

/** So many rows before the last the next ones are asked for, so that nobody waits for them. */
const AHEAD = 30;

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
export function LongTable<T, Sort extends string>({ label, columns, items, keyOf, rowPx, minWidth, sorted, onSort, onNearEnd, row }: Props<T, Sort>) {
  const { tableRef, measure, rows, last, scrolled } = useVirtualRows({ count: items.length, estimate: rowPx, keyOf: (index) => (items[index] === undefined ? String(index) : keyOf(items[index])), keep: null });
  const nearEnd = scrolled && last >= items.length - AHEAD;
  useEffect(() => {
    if (nearEnd) onNearEnd();
  }, [nearEnd, onNearEnd]);
  return (
    <Table ref={tableRef} aria-label={label} aria-rowcount={-1} highlightOnHover className={classes["table"]} style={{ minWidth }}>
      <Table.Thead>
        <Table.Tr aria-rowindex={1}>
          {columns.map(({ title, width, sort }) => (
            <Table.Th key={title} w={width} aria-sort={sort?.by === sorted ? sort.way : undefined}>
              {sort ? (
                <UnstyledButton className={classes["sort"]} onClick={() => onSort(sort.by)}>
                  {title}
                  <span aria-hidden="true" className={classes["arrow"]} data-off={sort.by === sorted ? undefined : true}>
                    {sort.by !== sorted ? "↕" : sort.way === "ascending" ? "▲" : "▼"}
                  </span>
                </UnstyledButton>
              ) : (
                title
              )}
            </Table.Th>
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
          return item === undefined ? null : row(item, { ref: measure, "data-index": place.index, "aria-rowindex": place.index + 2 });
        })}
      </Table.Tbody>
    </Table>
  );
}
