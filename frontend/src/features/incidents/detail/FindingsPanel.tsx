import { Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { createColumnHelper } from "@tanstack/react-table";
import { useMemo } from "react";
import type { Incident, IncidentFinding } from "@/lib/api/types";
import { plural } from "@/lib/format";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { DataTable } from "@/lib/ui/DataTable";
import { Panel } from "@/lib/ui/Panel";
import { StatusMark } from "@/lib/ui/StatusMark";
import { SymptomBadge } from "@/lib/ui/SymptomBadge";
import { RemedyLink } from "@/shared/remedies/RemedyLink";

const column = createColumnHelper<IncidentFinding>();

/** The findings of the incident, when there is more than one. */
export function FindingsPanel({ incident }: { incident: Incident }) {
  const { time } = useTimeFormat();
  const columns = useMemo(
    () => [
      column.accessor("symptom", {
        header: "Symptom",
        cell: ({ row: { original } }) => (
          <SymptomBadge symptom={original.symptom} over={original.state === "cleared"} />
        ),
      }),
      column.accessor((row) => `${row.host} ${row.pci}`, {
        id: "where",
        header: "Where",
        cell: ({ row: { original } }) =>
          original.pci === "" ? (
            <Link to="/" search={{ host: original.host }}>
              {original.host}
            </Link>
          ) : (
            <Link
              to="/rnics/$host/$pci"
              params={{ host: original.host, pci: original.pci }}
              style={{ whiteSpace: "nowrap" }}
            >
              {original.host} {original.pci}
            </Link>
          ),
      }),
      column.accessor("summary", {
        header: "Finding",
        cell: ({ row: { original } }) => (
          <>
            {original.summary}
            {original.inhibited && original.inhibited_by === null && " (a consequence: no notification sent)"}
            {original.inhibited_by !== null && (
              <>
                {" "}
                ({original.inhibited ? "inhibited: caused by remedy " : "outlasted remedy "}
                <RemedyLink id={original.inhibited_by} />)
              </>
            )}
          </>
        ),
      }),
      column.accessor("rack", { header: "Rack" }),
      column.accessor("severity", {
        header: "Severity",
        cell: ({ getValue }) => <StatusMark tone={getValue() === "critical" ? "bad" : "warn"}>{getValue()}</StatusMark>,
      }),
      column.accessor((row) => row.cause ?? "–", { id: "cause", header: "Cause" }),
      column.accessor("started_at", {
        header: "From",
        cell: ({ getValue }) => <span style={{ whiteSpace: "nowrap" }}>{time(getValue())}</span>,
      }),
      column.accessor((row) => row.cleared_at ?? "", {
        id: "to",
        header: "To",
        cell: ({ row }) => (
          <span style={{ whiteSpace: "nowrap" }}>
            {row.original.cleared_at === null ? "present" : time(row.original.cleared_at)}
          </span>
        ),
      }),
    ],
    [time],
  );
  if (incident.findings.length < 2) return null;
  return (
    <Panel
      title="Findings"
      aside={
        <Text size="xs" c="dimmed">
          {plural(incident.findings.length, "finding")} in this incident
        </Text>
      }
      flush
    >
      <div style={{ maxHeight: 320, overflowY: "auto" }}>
        <DataTable label="Findings" data={incident.findings} columns={columns} />
      </div>
    </Panel>
  );
}
