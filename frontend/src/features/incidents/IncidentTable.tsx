import { Text } from "@mantine/core";
import { createColumnHelper } from "@tanstack/react-table";
import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import type { IncidentSummary } from "@/lib/api/types";
import { useNames } from "@/lib/api/useCatalogue";
import { formatAgo, formatDuration } from "@/lib/time/format";
import { useNow } from "@/lib/time/useNow";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { DataTable } from "@/lib/ui/DataTable";
import { StatusMark } from "@/lib/ui/StatusMark";
import { SymptomBadge } from "@/lib/ui/SymptomBadge";
import { reachText } from "./evidenceText";
import { IncidentStateMark } from "./IncidentStateMark";

const column = createColumnHelper<IncidentSummary>();

function Opened({ at }: { at: string }) {
  const now = useNow();
  const { time } = useTimeFormat();
  return (
    <Text span size="sm" title={time(at)} style={{ whiteSpace: "nowrap" }}>
      {formatAgo(at, now)}
    </Text>
  );
}

function Lasted({ incident }: { incident: IncidentSummary }) {
  const now = useNow();
  const end = incident.resolved_at === null ? now : Date.parse(incident.resolved_at);
  return (
    <Text span size="sm" style={{ whiteSpace: "nowrap" }}>
      {formatDuration(end - Date.parse(incident.opened_at))}
    </Text>
  );
}

function Cause({ id }: { id: string }) {
  const name = useNames().cause(id);
  return (
    <Text size="sm" truncate maw={220} title={name}>
      {id}
      {name !== id && (
        <Text span size="sm" visibleFrom="xl">
          {` ${name}`}
        </Text>
      )}
    </Text>
  );
}

export function IncidentTable({ incidents }: { incidents: readonly IncidentSummary[] }) {
  const columns = useMemo(
    () => [
      column.accessor("state", { header: "State", cell: ({ row }) => <IncidentStateMark incident={row.original} /> }),
      column.accessor("severity", { header: "Severity", cell: ({ getValue }) => <StatusMark tone={getValue() === "critical" ? "bad" : "warn"}>{getValue()}</StatusMark> }),
      column.accessor("symptom", { header: "Symptom", cell: ({ getValue }) => <SymptomBadge symptom={getValue()} /> }),
      column.accessor("title", {
        header: "Incident",
        cell: ({ row, getValue }) => (
          <Link to="/incidents/$id" params={{ id: row.original.id }}>
            {getValue()}
          </Link>
        ),
      }),
      column.accessor((row) => `${row.host} ${row.pci}`, {
        id: "rnic",
        header: "RNIC",
        cell: ({ row }) => (
          <Link to="/rnics/$host/$pci" params={{ host: row.original.host, pci: row.original.pci }} style={{ whiteSpace: "nowrap" }}>
            {row.original.host} <span style={{ fontFamily: "var(--ww-mono)", fontSize: "0.75rem" }}>{row.original.pci}</span>
          </Link>
        ),
      }),
      column.accessor((row) => row.rack ?? "", { id: "rack", header: "Rack" }),
      column.accessor((row) => row.top_cause ?? "–", { id: "cause", header: "Likely cause", cell: ({ getValue }) => <Cause id={getValue()} /> }),
      column.accessor("blast_radius", { header: "Reach", cell: ({ getValue }) => reachText(getValue()) }),
      column.accessor("opened_at", { header: "Opened", cell: ({ getValue }) => <Opened at={getValue()} /> }),
      column.display({ id: "lasted", header: "Lasts", cell: ({ row }) => <Lasted incident={row.original} /> }),
    ],
    [],
  );
  return <DataTable label="Incidents" data={incidents} columns={columns} />;
}
