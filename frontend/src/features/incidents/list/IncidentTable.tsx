import { Checkbox, Table } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { useEffect, useMemo } from "react";
import { useNow } from "@/lib/time/useNow";
import { SortHeader } from "@/lib/ui/SortHeader";
import { useVirtualRows } from "@/lib/ui/useVirtualRows";
import type { IncidentFilters, Sort } from "../filters/filters";
import { GroupHead, GroupRest } from "./GroupHead";
import { incidentsOf, type ListItem } from "./groups";
import { IncidentRow } from "./IncidentRow";
import classes from "./IncidentTable.module.css";
import type { Selection } from "./useSelection";

const ROUND_MS = 10_000;
const ROW_PX = 49;
const COLUMNS: readonly { title: string; sort?: Sort; className?: string }[] = [
  { title: "State", className: "state" },
  { title: "Severity", sort: "severity", className: "severity" },
  { title: "Symptom", className: "symptom" },
  { title: "Incident" },
  { title: "Likely cause", className: "cause" },
  { title: "Assignee", className: "assignee" },
  { title: "Opened", sort: "opened_at", className: "when" },
  { title: "Changed", sort: "updated_at", className: "when" },
];

interface Props {
  items: readonly ListItem[];
  filters: IncidentFilters;
  selection: Selection;
  /** All that match, loaded or not; undefined until it is known. */
  total: number | undefined;
  /** The row that the keyboard has just come to; a new object for each move. */
  moved: { id: string } | null;
  onSort: (sort: Sort, order: "asc" | "desc") => void;
  /** The reader nears the end of the rows. */
  onNearEnd: () => void;
  onOpenGroup: (value: string, open: boolean) => void;
  onMoreOfGroup: (value: string) => void;
}

/** Widths of the window below which two more columns are hidden (IncidentTable.module.css). */
const HIDING = [1200, 1000, 560] as const;

/** How many columns are shown. A cell that spans more would add columns, which take their width from the title. */
function useShownColumns(): number {
  const once = { getInitialValueInEffect: false };
  const hidden = [
    useMediaQuery(`(max-width: ${HIDING[0]}px)`, false, once),
    useMediaQuery(`(max-width: ${HIDING[1]}px)`, false, once),
    useMediaQuery(`(max-width: ${HIDING[2]}px)`, false, once),
  ];
  return COLUMNS.length + 1 - 2 * hidden.filter(Boolean).length;
}

function idOf(item: ListItem | undefined): string | undefined {
  if (item === undefined) return undefined;
  return item.kind === "row" ? item.incident.id : `${item.kind} ${item.group.value}`;
}

/** The order is the server's: it covers all that match, not only the rows that are loaded. Of these only those in sight are drawn. */
export function IncidentTable({
  items,
  filters,
  selection,
  total,
  moved,
  onSort,
  onNearEnd,
  onOpenGroup,
  onMoreOfGroup,
}: Props) {
  const now = Math.floor(useNow() / ROUND_MS) * ROUND_MS;
  const sorted = filters.sort ?? "opened_at";
  const order = filters.order ?? "desc";
  const columns = useShownColumns();
  const incidents = useMemo(() => incidentsOf(items), [items]);
  const every = incidents.length > 0 && selection.ids.size === incidents.length;
  const indexOf = (id: string) => items.findIndex((item) => item.kind === "row" && item.incident.id === id);
  const at = selection.cursor === null ? -1 : indexOf(selection.cursor);
  const { tableRef, measure, rows, focusRow } = useVirtualRows({
    count: items.length,
    estimate: ROW_PX,
    keyOf: (index) => idOf(items[index]) ?? String(index),
    keep: at === -1 ? null : at,
    onNearEnd,
  });
  useEffect(() => {
    if (moved !== null) focusRow(indexOf(moved.id));
    // Only when the keyboard moves: rows that come must not take the reader back.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [moved]);
  return (
    <Table
      ref={tableRef}
      aria-label="Incidents"
      aria-rowcount={filters.group !== undefined ? items.length + 1 : total === undefined ? -1 : total + 1}
      highlightOnHover
      className={classes["table"]}
    >
      <Table.Thead>
        <Table.Tr aria-rowindex={1}>
          <Table.Th className={classes["check"]}>
            <Checkbox
              size="xs"
              aria-label="Select all that are shown"
              checked={every}
              indeterminate={selection.ids.size > 0 && !every}
              onChange={every ? selection.clear : selection.selectShown}
            />
          </Table.Th>
          {COLUMNS.map(({ title, sort, className }) => (
            <SortHeader
              key={title}
              title={title}
              className={className && classes[className]}
              way={sort !== sorted ? null : order === "asc" ? "ascending" : "descending"}
              onSort={sort && (() => onSort(sort, sort === sorted && order === "desc" ? "asc" : "desc"))}
            />
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {rows.map((row, i) => {
          if (typeof row === "number")
            return (
              <tr key={`gap${i}`} aria-hidden="true" className={classes["gap"]}>
                <td colSpan={columns} style={{ height: row }} />
              </tr>
            );
          const item = items[row.index];
          if (item === undefined) return null;
          const place = { ref: measure, index: row.index, columns };
          if (item.kind === "head")
            return (
              filters.group && (
                <GroupHead
                  key={idOf(item)}
                  {...place}
                  by={filters.group}
                  group={item.group}
                  open={item.open}
                  now={now}
                  onToggle={onOpenGroup}
                />
              )
            );
          if (item.kind === "rest")
            return (
              <GroupRest
                key={idOf(item)}
                {...place}
                group={item.group}
                loading={item.loading}
                count={item.count}
                onMore={onMoreOfGroup}
              />
            );
          const { incident } = item;
          return (
            <IncidentRow
              key={incident.id}
              ref={measure}
              index={row.index}
              incident={incident}
              selected={selection.ids.has(incident.id)}
              current={selection.cursor === incident.id}
              now={now}
              onToggle={selection.toggle}
            />
          );
        })}
      </Table.Tbody>
    </Table>
  );
}
