import { Checkbox, Table, UnstyledButton } from "@mantine/core";
import type { IncidentSummary } from "@/lib/api/types";
import { useNow } from "@/lib/time/useNow";
import type { IncidentFilters, Sort } from "./filters";
import { IncidentRow } from "./IncidentRow";
import classes from "./IncidentTable.module.css";
import type { Selection } from "./useSelection";

const ROUND_MS = 10_000;
const COLUMNS: readonly { title: string; sort?: Sort }[] = [
  { title: "State" }, { title: "Severity", sort: "severity" }, { title: "Symptom" }, { title: "Incident" }, { title: "Likely cause" }, { title: "Assignee" }, { title: "Opened", sort: "opened_at" }, { title: "Changed", sort: "updated_at" },
];

interface Props {
  incidents: readonly IncidentSummary[];
  filters: IncidentFilters;
  selection: Selection;
  onSort: (sort: Sort, order: "asc" | "desc") => void;
}

/** The order is the server's: it covers all that match, not only the rows that are shown. */
export function IncidentTable({ incidents, filters, selection, onSort }: Props) {
  const now = Math.floor(useNow() / ROUND_MS) * ROUND_MS;
  const sorted = filters.sort ?? "opened_at";
  const order = filters.order ?? "desc";
  const every = incidents.length > 0 && selection.ids.size === incidents.length;
  return (
    <Table aria-label="Incidents" highlightOnHover className={classes["table"]}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th className={classes["check"]}>
            <Checkbox size="xs" aria-label="Select all that are shown" checked={every} indeterminate={selection.ids.size > 0 && !every} onChange={every ? selection.clear : selection.selectShown} />
          </Table.Th>
          {COLUMNS.map(({ title, sort }) => (
            <Table.Th key={title} aria-sort={sort === sorted ? (order === "asc" ? "ascending" : "descending") : undefined}>
              {sort ? (
                <UnstyledButton className={classes["sort"]} onClick={() => onSort(sort, sort === sorted && order === "desc" ? "asc" : "desc")}>
                  {title}
                  <span aria-hidden="true" className={classes["arrow"]} data-off={sort === sorted ? undefined : true}>
                    {sort !== sorted ? "↕" : order === "asc" ? "▲" : "▼"}
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
        {incidents.map((incident) => (
          <IncidentRow key={incident.id} incident={incident} selected={selection.ids.has(incident.id)} current={selection.cursor === incident.id} now={now} onToggle={selection.toggle} />
        ))}
      </Table.Tbody>
    </Table>
  );
}
