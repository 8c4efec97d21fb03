import { Checkbox, Table } from "@mantine/core";
import { useEffect } from "react";
import type { IncidentSummary } from "@/lib/api/types";
import { useNow } from "@/lib/time/useNow";
import { SortHeader } from "@/lib/ui/SortHeader";
import { useVirtualRows } from "@/lib/ui/useVirtualRows";
import type { IncidentFilters, Sort } from "../filters/filters";
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
  incidents: readonly IncidentSummary[];
  filters: IncidentFilters;
  selection: Selection;
  /** All that match, loaded or not; undefined until it is known. */
  total: number | undefined;
  /** The row that the keyboard has just come to; a new object for each move. */
  moved: { id: string } | null;
  onSort: (sort: Sort, order: "asc" | "desc") => void;
  /** The reader nears the end of the rows. */
  onNearEnd: () => void;
}

/** The order is the server's: it covers all that match, not only the rows that are loaded. Of these only those in sight are drawn. */
export function IncidentTable({ incidents, filters, selection, total, moved, onSort, onNearEnd }: Props) {
  const now = Math.floor(useNow() / ROUND_MS) * ROUND_MS;
  const sorted = filters.sort ?? "opened_at";
  const order = filters.order ?? "desc";
  const every = incidents.length > 0 && selection.ids.size === incidents.length;
  const at = selection.cursor === null ? -1 : incidents.findIndex((incident) => incident.id === selection.cursor);
  const { tableRef, measure, rows, focusRow } = useVirtualRows({
    count: incidents.length,
    estimate: ROW_PX,
    keyOf: (index) => incidents[index]?.id ?? String(index),
    keep: at === -1 ? null : at,
    onNearEnd,
  });
  useEffect(() => {
    if (moved !== null) focusRow(incidents.findIndex((incident) => incident.id === moved.id));
    // Only when the keyboard moves: rows that come must not take the reader back.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [moved]);
  return (
    <Table
      ref={tableRef}
      aria-label="Incidents"
      aria-rowcount={total === undefined ? -1 : total + 1}
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
                <td colSpan={COLUMNS.length + 1} style={{ height: row }} />
              </tr>
            );
          const incident = incidents[row.index];
          return (
            incident && (
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
            )
          );
        })}
      </Table.Tbody>
    </Table>
  );
}
